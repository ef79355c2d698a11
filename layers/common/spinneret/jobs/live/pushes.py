"""Pushes to the WebSocket clients that subscribe to a job (P-07).

A push is best effort and never changes the job. A connection that can't be reached is closed, so
that its client reconnects. When it subscribes again, it gets the timeline that it missed.
"""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Final

from spinneret.jobs import limits
from spinneret.jobs.api_models import event_view
from spinneret.jobs.models import Job, JobEvent, JobRef, Subscriber
from spinneret.jobs.ports import ConnectionStore, Sockets
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.outbox.models import DomainEvent

logger = logging.getLogger(__name__)


@service
class Pushes:
    """Send messages to the subscribers of a job."""

    connections: ConnectionStore
    sockets: Sockets
    monotonic: Callable[[], float]
    clock: Clock

    def push(self, ref: JobRef, messages: Callable[[], Iterator[str]]) -> None:
        """Send to all subscribers in parallel; `messages` is called only if there are any.

        Takes PUSH_SECONDS at most, and raises nothing that an outage may cause.
        """
        try:
            subscribers = self.connections.subscribers(ref)
        except DependencyUnavailable as error:
            logger.warning("push_failed", extra={"job_id": ref.job_id, "reason": error.message})
            return
        if subscribers:
            push = partial(self._push, texts=list(messages()))
            with ThreadPoolExecutor(len(subscribers)) as pool:
                list(pool.map(push, subscribers))

    def _push(self, subscriber: Subscriber, texts: Sequence[str]) -> None:
        if not self._reached(subscriber, texts, self.monotonic() + limits.PUSH_SECONDS):
            self._drop(subscriber.connection_id)

    def _reached(self, subscriber: Subscriber, texts: Sequence[str], deadline: float) -> bool:
        if is_past(subscriber.ends_at, self.clock()):
            return False
        try:
            return all(
                self.monotonic() < deadline and self.sockets.post(subscriber.connection_id, text)
                for text in texts
            )
        except DependencyUnavailable:
            return False

    def _drop(self, connection_id: str) -> None:
        """Close the connection. If an outage prevents that, its next message or its TTL ends it."""
        logger.info("subscriber_dropped", extra={"connection_id": connection_id})
        for part in (self.sockets.end, self.connections.close):
            try:
                part(connection_id)
            except DependencyUnavailable as error:
                logger.warning("push_failed", extra={"reason": error.message})


class LiveEvents:
    """Listener of the job store that pushes new timeline events to subscribers."""

    def __init__(self, pushes: Pushes) -> None:
        self._pushes = pushes

    def __call__(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Push all events of one write in one push."""
        if job.watchers and events:
            self._pushes.push(job.ref, lambda: messages(job.ref, events))


class Subscribers:
    """Sink that pushes a domain event to the subscribers of its subject (a job, a target)."""

    name: Final = "subscribers"

    def __init__(self, pushes: Pushes) -> None:
        self._pushes = pushes

    def take(self, event: DomainEvent) -> None:
        """See Sink. Best effort, so it never fails."""
        ref = JobRef(tenant=event.tenant, job_id=event.subject)
        self._pushes.push(ref, lambda: iter([event_message(event)]))


def messages(ref: JobRef, events: Sequence[JobEvent]) -> Iterator[str]:
    """Yield `{"type": "events", "job_id": …, "items": […]}`; several if one is too large."""
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


def event_message(event: DomainEvent) -> str:
    """Return `{"type": "event", "subject": …, "job_id": …, "event": {…}}`.

    The subject is the job, or the other subject of the event. The event's data is below
    SOCKET_MESSAGE_BYTES.
    """
    about = {
        "id": event.id,
        "type": event.type,
        "sequence": event.sequence,
        "occurred_at": to_iso(event.occurred_at),
        "data": event.data,
    }
    subject = event.subject
    message = {"type": "event", "subject": subject, "job_id": subject, "event": about}
    return json.dumps(message, ensure_ascii=False)


def is_past(end: datetime | None, now: datetime) -> bool:
    """Return whether a connection has expired; None never expires."""
    return end is not None and end <= now


def _message(ref: JobRef, items: Sequence[str]) -> str:
    job_id = json.dumps(ref.job_id)
    return f'{{"type": "events", "job_id": {job_id}, "items": [{",".join(items)}]}}'
