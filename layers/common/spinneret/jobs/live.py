"""Live progress over WebSockets: who listens to which job, and what they are told (P-07).

A push is best effort and never touches the job. A connection that can't be reached is ended, so
that its client knows that it has to come again, and on subscribing gets all that it has missed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from spinneret.jobs.api_models import event_view
from spinneret.jobs.models import Connection, Event, Job, JobRef
from spinneret.jobs.ports import ConnectionStore, JobStore, Sockets
from spinneret.kernel import limits
from spinneret.kernel.canonical import parse_json
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    MalformedRequest,
    NotFound,
    ValidationFailed,
)

logger = logging.getLogger(__name__)

_ACTIONS: Final = ("subscribe", "unsubscribe")


class Announcer:
    """Tells the watchers of a job what happened to it."""

    def __init__(
        self, connections: ConnectionStore, sockets: Sockets, monotonic: Callable[[], float]
    ) -> None:
        self._connections = connections
        self._sockets = sockets
        self._monotonic = monotonic

    def __call__(self, job: Job, events: Sequence[Event]) -> None:
        """One push for all events of one write, within PUSH_SECONDS for all watchers together.

        Raises nothing that an outage may cause.
        """
        if not job.watchers or not events:
            return
        ref = job.ref
        deadline = self._monotonic() + limits.PUSH_SECONDS
        texts = list(messages(ref, events))
        try:
            watching = self._connections.watching(ref)
        except DependencyUnavailable as error:
            logger.warning("push_failed", extra={"job_id": ref.job_id, "reason": error.message})
            return
        for connection_id in watching:
            if not self._reached(connection_id, texts, deadline):
                self._drop(connection_id, deadline + limits.PUSH_SECONDS)

    def _reached(self, connection_id: str, texts: Sequence[str], deadline: float) -> bool:
        try:
            return all(
                self._monotonic() < deadline and self._sockets.post(connection_id, text)
                for text in texts
            )
        except DependencyUnavailable:
            return False

    def _drop(self, connection_id: str, deadline: float) -> None:
        logger.info("watcher_dropped", extra={"connection_id": connection_id})
        try:
            self._connections.close(connection_id)
            if self._monotonic() < deadline:
                self._sockets.end(connection_id)
        except DependencyUnavailable as error:
            logger.warning("push_failed", extra={"reason": error.message})


class LiveService:
    """One client's connection: subscriptions, and the timeline so far."""

    def __init__(
        self,
        *,
        store: JobStore,
        connections: ConnectionStore,
        sockets: Sockets,
        clock: Clock,
    ) -> None:
        self._store = store
        self._connections = connections
        self._sockets = sockets
        self._clock = clock

    def connect(self, connection_id: str, tenant: str, job_id: str | None) -> None:
        """Remember whose connection it is; `job_id` limits it to one job (a ticket's)."""
        self._connections.open(
            Connection(id=connection_id, tenant=tenant, only_job=job_id), self._clock()
        )

    def disconnect(self, connection_id: str) -> None:
        """End all its subscriptions; harmless when it has none."""
        self._connections.close(connection_id)

    def receive(self, connection_id: str, text: str) -> None:
        """`{"action": "subscribe" | "unsubscribe", "job_id": …, "after": event id or absent}`.

        The answer, also an error's, goes to the connection. Raises DependencyUnavailable.
        """
        connection = self._connections.find(connection_id)
        if connection is None:
            self._sockets.end(connection_id)
            return
        try:
            action, job_id, after = _parsed(text)
            ref = JobRef(tenant=connection.tenant, job_id=job_id)
            if connection.only_job not in (None, job_id):
                raise NotFound("no such job")
            if action == "subscribe":
                self._subscribe(connection_id, ref, after)
            else:
                self._connections.unsubscribe(connection_id, ref)
                self._say(connection_id, {"type": "unsubscribed", "job_id": job_id})
        except DependencyUnavailable:
            raise
        except DomainError as error:
            said = {"error": error.message, "code": error.code, "details": error.details}
            self._say(connection_id, {"type": "error", **said})

    def _subscribe(self, connection_id: str, ref: JobRef, after: str | None) -> None:
        """Subscribed first and told then: an event may come twice, but none is missed.

        A push may overtake the catch-up; `caught_up` says up to where the client has everything.
        """
        self._connections.subscribe(connection_id, ref, self._clock())
        job = self._store.get(ref)
        if job is None:
            raise NotFound("no such job")
        answer = {"type": "subscribed", "job_id": job.id, "status": job.status}
        self._say(connection_id, answer)
        has_more = True
        for _ in range(limits.CATCH_UP_PAGES):
            events = self._store.events(ref, after, limits.LIST_LIMIT_MAX)
            has_more = len(events) == limits.LIST_LIMIT_MAX
            if events:
                for text in messages(ref, events):
                    self._sockets.post(connection_id, text)
                after = events[-1].id
            if not has_more:
                break
        caught_up = {"type": "caught_up", "job_id": job.id, "after": after, "has_more": has_more}
        self._say(connection_id, caught_up)

    def _say(self, connection_id: str, message: Mapping[str, Any]) -> None:
        self._sockets.post(connection_id, json.dumps(message, ensure_ascii=False))


def messages(ref: JobRef, events: Sequence[Event]) -> Iterator[str]:
    """`{"type": "events", "job_id": …, "items": […]}`; several where one would be too large."""
    views = [json.dumps(event_view(event).model_dump(mode="json")) for event in events]
    part: list[str] = []
    size = 0
    for view in views:
        if part and size + len(view) > limits.SOCKET_MESSAGE_BYTES:
            yield _message(ref, part)
            part, size = [], 0
        part.append(view)
        size += len(view) + 1
    yield _message(ref, part)


def _message(ref: JobRef, items: Sequence[str]) -> str:
    job_id = json.dumps(ref.job_id)
    return f'{{"type": "events", "job_id": {job_id}, "items": [{",".join(items)}]}}'


def _parsed(text: str) -> tuple[str, str, str | None]:
    """Raises MalformedRequest and ValidationFailed."""
    if len(text) > limits.SOCKET_REQUEST_CHARS:
        raise ValidationFailed(f"a message has at most {limits.SOCKET_REQUEST_CHARS} characters")
    value = parse_json(text)
    if not isinstance(value, dict):
        raise MalformedRequest("a message is a JSON object")
    unknown = sorted(value.keys() - {"action", "job_id", "after"})
    wrong = [
        name
        for name, good in (
            ("action", value.get("action") in _ACTIONS),
            ("job_id", isinstance(value.get("job_id"), str)),
            ("after", isinstance(value.get("after"), str | None)),
        )
        if not good
    ] + unknown
    if wrong:
        fields = [{"field": name} for name in wrong]
        raise ValidationFailed(f"invalid: {', '.join(wrong)}", details={"fields": fields})
    return value["action"], value["job_id"], value.get("after")
