"""WebSocket connections in memory."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any

from spinneret.jobs import limits
from spinneret.jobs.models import Connection, JobRef, Subscriber
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, DependencyUnavailable, NotFound
from spinneret.kernel.ids import is_id
from tests.fakes.dependency import FakeDependency
from tests.fakes.jobs import FakeJobStore


def allowed(*_: str) -> bool:
    """Allow every key and every subject."""
    return True


class FakeConnectionStore(FakeDependency):
    """Implements ConnectionStore; counts the watchers of jobs in a FakeJobStore."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self.on_close: Callable[[], Any] = lambda: None
        self._jobs = jobs
        self._lock = Lock()
        self._open: dict[str, Connection] = {}

    def open(self, connection: Connection, now: datetime) -> None:
        with self._lock:
            self._open[connection.id] = connection

    def find(self, connection_id: str) -> Connection | None:
        with self._lock:
            return self._open.get(connection_id)

    def subscribe(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        with self._lock:
            job, found = self._jobs.get(ref), self._open.get(connection.id)
            if job is None:
                raise NotFound("no such job")
            if found is None:
                raise NotFound("the connection is closed")
            if ref.job_id in found.jobs:
                return
            room = job.watchers < bounds.SUBSCRIBERS_PER_JOB
            if not room or len(found.jobs) >= limits.JOBS_PER_CONNECTION:
                raise Conflict("too many subscriptions")
            self._open[found.id] = replace(found, jobs=found.jobs | {ref.job_id})
            self._jobs.subscribe(ref, 1)

    def subscribe_to_events(self, connection: Connection, ref: JobRef, now: datetime) -> None:
        with self._lock:
            found = self._open.get(connection.id)
            if not is_id(ref.job_id) or found is None:
                raise NotFound("no such subject")
            if self._jobs.get(ref) is not None:
                raise Conflict("a job is subscribed to by its job_id")
            if ref.job_id in found.jobs:
                return
            others = sum(
                each.tenant == ref.tenant and ref.job_id in each.jobs
                for each in self._open.values()
            )
            if (
                others >= bounds.SUBSCRIBERS_PER_JOB
                or len(found.jobs) >= limits.JOBS_PER_CONNECTION
            ):
                raise Conflict("too many subscriptions")
            self._open[found.id] = replace(found, jobs=found.jobs | {ref.job_id})

    def unsubscribe(self, connection_id: str, ref: JobRef) -> None:
        if not is_id(ref.job_id):
            return
        with self._lock:
            connection = self._open.get(connection_id)
            if connection is None or ref.job_id not in connection.jobs:
                return
            if connection.tenant != ref.tenant:
                return
            self._open[connection_id] = replace(connection, jobs=connection.jobs - {ref.job_id})
            if self._jobs.get(ref) is not None:
                self._jobs.subscribe(ref, -1)

    def close(self, connection_id: str) -> None:
        self._require()
        self.on_close()
        connection = self.find(connection_id)
        if connection is None:
            return
        for job_id in connection.jobs:
            self.unsubscribe(connection_id, JobRef(tenant=connection.tenant, job_id=job_id))
        with self._lock:
            del self._open[connection_id]

    def opened_with(self, tenant: str, key_id: str, after: str | None, limit: int) -> list[str]:
        self._require()
        with self._lock:
            found = sorted(
                each.id
                for each in self._open.values()
                if (each.tenant, each.key_id) == (tenant, key_id)
            )
        return [each for each in found if after is None or each > after][:limit]

    def subscribers(self, ref: JobRef) -> list[Subscriber]:
        with self._lock:
            return [
                Subscriber(connection_id=each.id, ends_at=each.ends_at)
                for each in self._open.values()
                if each.tenant == ref.tenant and ref.job_id in each.jobs
            ]


class FakeSockets:
    """Implements Sockets; keeps each client's messages. Like the real one, it needs valid UTF-8."""

    def __init__(self) -> None:
        self.received: dict[str, list[Any]] = {}
        self.gone: set[str] = set()
        self.ended: list[str] = []
        self.unreachable: set[str] = set()
        self.on_post: Callable[[], None] = lambda: None
        self.on_end: Callable[[], Any] = lambda: None

    def post(self, connection_id: str, text: str) -> bool:
        self.on_post()
        text.encode()
        if connection_id in self.unreachable:
            raise DependencyUnavailable("websocket")
        if connection_id in self.gone:
            return False
        self.received.setdefault(connection_id, []).append(json.loads(text))
        return True

    def end(self, connection_id: str) -> None:
        self.on_end()
        if connection_id in self.unreachable:
            raise DependencyUnavailable("websocket")
        self.ended.append(connection_id)
