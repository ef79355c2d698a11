"""WebSocket connections in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any

from spinneret.jobs.models import Connection, JobRef
from spinneret.kernel import limits
from spinneret.kernel.errors import Conflict, DependencyUnavailable, NotFound
from tests.fakes.jobs import FakeJobStore


class FakeConnectionStore:
    """Implements ConnectionStore beside the jobs of a FakeJobStore."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._lock = Lock()
        self._open: dict[str, Connection] = {}

    def open(self, connection: Connection, now: datetime) -> None:
        with self._lock:
            self._open[connection.id] = connection

    def find(self, connection_id: str) -> Connection | None:
        with self._lock:
            return self._open.get(connection_id)

    def subscribe(self, connection_id: str, ref: JobRef, now: datetime) -> None:
        with self._lock:
            job, connection = self._jobs.get(ref), self._open.get(connection_id)
            if job is None:
                raise NotFound("no such job")
            if connection is None:
                raise NotFound("the connection is closed")
            if ref.job_id in connection.jobs:
                return
            room = job.watchers < limits.WATCHERS_PER_JOB
            if not room or len(connection.jobs) >= limits.JOBS_PER_CONNECTION:
                raise Conflict("too many subscriptions")
            self._open[connection_id] = replace(connection, jobs=connection.jobs | {ref.job_id})
            self._jobs.subscribe(ref, 1)

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        with self._lock:
            connection = self._open.get(connection_id)
            if connection is None or ref.job_id not in connection.jobs:
                return
            if connection.tenant != ref.tenant:
                return
            self._open[connection_id] = replace(connection, jobs=connection.jobs - {ref.job_id})
            self._jobs.subscribe(ref, -1)

    def close(self, connection_id: str) -> None:
        connection = self.find(connection_id)
        if connection is None:
            return
        for job_id in connection.jobs:
            self.unsubscribe(connection_id, JobRef(tenant=connection.tenant, job_id=job_id))
        with self._lock:
            del self._open[connection_id]

    def watching(self, ref: JobRef) -> list[str]:
        with self._lock:
            return [
                each.id
                for each in self._open.values()
                if each.tenant == ref.tenant and ref.job_id in each.jobs
            ]


class FakeSockets:
    """Implements Sockets; keeps what each client got."""

    def __init__(self) -> None:
        self.received: dict[str, list[Any]] = {}
        self.gone: set[str] = set()
        self.ended: list[str] = []
        self.unreachable: set[str] = set()
        self.on_post: Callable[[], None] = lambda: None

    def post(self, connection_id: str, text: str) -> bool:
        self.on_post()
        if connection_id in self.unreachable:
            raise DependencyUnavailable("websocket")
        if connection_id in self.gone:
            return False
        self.received.setdefault(connection_id, []).append(json.loads(text))
        return True

    def end(self, connection_id: str) -> None:
        if connection_id in self.unreachable:
            raise DependencyUnavailable("websocket")
        self.ended.append(connection_id)
