"""Subscriptions of WebSocket clients to live progress (P-07); `pushes` sends to them.

A connection lasts no longer than its key or ticket. Every message from it and every push to it
checks the expiry that was stored when it was opened. A revocation closes the connection at once; if
that fails, the connection's next message does.
"""

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.jobs import limits
from spinneret.jobs.keys import is_event_id
from spinneret.jobs.live.pushes import is_past, messages
from spinneret.jobs.models import Connection, JobRef
from spinneret.jobs.ports import ConnectionStore, JobStore, Sockets
from spinneret.kernel import bounds
from spinneret.kernel.canonical import parse_json
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    Forbidden,
    NotFound,
    ValidationFailed,
    existing,
    field_error,
)
from spinneret.kernel.ids import is_id
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_ACTIONS: Final = ("subscribe", "unsubscribe")
_MUST_BE: Final = {
    "action": f"must be one of {', '.join(_ACTIONS)}",
    "subject": "must be a text",
    "job_id": "must be a text",
    "after": "must be the id of an event, such as 00000001-000003",
}

Others = Mapping[str, Callable[[Connection, Mapping[str, Any]], Mapping[str, Any]]]
"""Further actions of products: `action` → function that returns the answer.

It raises ValidationFailed for invalid fields, and checks itself what a ticket allows (`only_job`).
"""

IsActive = Callable[[str, str], bool]
"""Whether a tenant's key, given by its id, is valid. Raises DependencyUnavailable."""
MayFollow = Callable[[str, str, str], bool]
"""Whether a tenant's key may read events of a subject, given by its id; raises the same."""
Count = Callable[[str, str], None]
"""Counts a message of a tenant's key. Raises RateLimited."""


@service
class LiveService:
    """Subscriptions of one client's connection, and the timeline so far."""

    store: JobStore
    connections: ConnectionStore
    sockets: Sockets
    clock: Clock
    others: Others = field(default_factory=dict)

    def connect(self, connection: Connection) -> None:
        """Store the connection with its tenant, key and expiry."""
        self.connections.open(connection, self.clock())

    def disconnect(self, connection_id: str) -> None:
        """End all subscriptions of the connection; no-op if it has none."""
        self.connections.close(connection_id)

    def receive(
        self,
        connection_id: str,
        text: str,
        is_active: IsActive,
        may_follow: MayFollow,
        count: Count,
    ) -> None:
        """Handle `{"action": "subscribe" | "unsubscribe", "job_id": …, "after": event id or
        absent}`.

        `{"action": …, "subject": …}` subscribes to the domain events of another subject, such as a
        target. Such events have no timeline, and the subject's existence isn't checked: an unknown
        id, or one of another tenant, has no events.

        A message counts as a request, unless it is a success of `others`: a plug-in sends those
        for the tasks that it is sent.

        Answers and errors are sent to the connection. An unknown connection, or one whose key or
        ticket has ended, is closed instead. Raises DependencyUnavailable.
        """
        connection = self.connections.find(connection_id)
        if connection is None or self._has_ended(connection, is_active):
            self.connections.close(connection_id)
            self.sockets.end(connection_id)
            return
        try:
            self._serve(connection, text, may_follow, count)
        except DependencyUnavailable:
            raise
        except DomainError as error:
            facts = {"error": error.message, "code": error.code, "details": error.details}
            self._send(connection_id, {"type": "error", **facts})

    def end_all(self, tenant: str, key_id: str) -> None:
        """End the connections of a revoked key. Raises nothing that an outage may cause.

        All subscriptions end before the first socket is closed, so that no push waits for a closing
        socket. A second revocation ends the connections that an outage, or ENDING_SECONDS, left
        open.
        """
        deadline = self.clock() + timedelta(seconds=limits.ENDING_SECONDS)
        closed = self._close_all(tenant, key_id, deadline)
        ended = [each for each in closed if self.clock() < deadline and self._ended(each)]
        facts = {"tenant": tenant, "key_id": key_id}
        counts = {"closed": len(closed), "ended": len(ended)}
        logger.info("connections_ended", extra={**facts, **counts})

    def _close_all(self, tenant: str, key_id: str, deadline: datetime) -> list[str]:
        closed: list[str] = []
        reason = None
        try:
            for connection_id in self._opened_with(tenant, key_id):
                if self.clock() >= deadline:
                    reason = "no time left"
                    break
                self.connections.close(connection_id)
                closed.append(connection_id)
        except DependencyUnavailable as error:
            reason = error.message
        if reason is not None:
            facts = {"tenant": tenant, "key_id": key_id, "reason": reason}
            logger.warning("connections_left", extra=facts)
        return closed

    def _ended(self, connection_id: str) -> bool:
        try:
            self.sockets.end(connection_id)
        except DependencyUnavailable as error:
            facts = {"connection_id": connection_id, "reason": error.message}
            logger.warning("socket_left", extra=facts)
            return False
        return True

    def _opened_with(self, tenant: str, key_id: str) -> Iterator[str]:
        """Yield the ids of all connections of the key, page by page."""
        page: Sequence[str] = ()
        while True:
            after = page[-1] if page else None
            page = self.connections.opened_with(tenant, key_id, after, bounds.LIST_LIMIT_MAX)
            if not page:
                return
            yield from page

    def _has_ended(self, connection: Connection, is_active: IsActive) -> bool:
        return is_past(connection.ends_at, self.clock()) or not is_active(
            connection.tenant, connection.key_id
        )

    def _serve(
        self, connection: Connection, text: str, may_follow: MayFollow, count: Count
    ) -> None:
        try:
            value = _object(text)
            other = self.others.get(str(value.get("action")))
            if other is not None:
                self._send(connection.id, other(connection, value))
                return
        except DomainError:
            count(connection.tenant, connection.key_id)
            raise
        count(connection.tenant, connection.key_id)
        if "subject" in value:
            action, subject = _parsed_subject(value)
            if not may_follow(connection.tenant, connection.key_id, subject):
                raise Forbidden("the caller lacks the permission to read the subject")
            self._follow(connection, action, subject)
            return
        action, job_id, after = _parsed(value)
        ref = JobRef(tenant=connection.tenant, job_id=job_id)
        if not is_id(job_id) or connection.only_job not in (None, job_id):
            raise NotFound("no such job")
        if action == "subscribe":
            self._subscribe(connection, ref, after)
        else:
            self.connections.unsubscribe(connection.id, ref)
            self._send(connection.id, {"type": "unsubscribed", "job_id": job_id})

    def _follow(self, connection: Connection, action: str, subject: str) -> None:
        ref = JobRef(tenant=connection.tenant, job_id=subject)
        if not is_id(subject) or connection.only_job is not None:
            raise NotFound("no such subject")
        if action == "subscribe":
            self.connections.subscribe_to_events(connection, ref, self.clock())
        else:
            self.connections.unsubscribe(connection.id, ref)
        self._send(connection.id, {"type": f"{action}d", "subject": subject})

    def _subscribe(self, connection: Connection, ref: JobRef, after: str | None) -> None:
        """Subscribe first, then send the timeline, so that an event may come twice but never gets
        lost.

        A push may overtake the catch-up; `caught_up` names the last event of the catch-up.
        """
        self.connections.subscribe(connection, ref, self.clock())
        job = existing(self.store.get(ref), "job")
        answer = {"type": "subscribed", "job_id": job.id, "status": job.status}
        self._send(connection.id, answer)
        has_more = True
        for _ in range(limits.CATCH_UP_PAGES):
            events = self.store.events(ref, after, bounds.LIST_LIMIT_MAX)
            has_more = len(events) == bounds.LIST_LIMIT_MAX
            if events:
                for text in messages(ref, events):
                    self.sockets.post(connection.id, text)
                after = events[-1].id
            if not has_more:
                break
        caught_up = {"type": "caught_up", "job_id": job.id, "after": after, "has_more": has_more}
        self._send(connection.id, caught_up)

    def _send(self, connection_id: str, message: Mapping[str, Any]) -> None:
        self.sockets.post(connection_id, json.dumps(message))


def _is_position(after: Any) -> bool:
    return after is None or (isinstance(after, str) and is_event_id(after))


def _object(text: str) -> dict[str, Any]:
    """Parse a message. Raises ValidationFailed."""
    if len(text) > limits.SOCKET_REQUEST_CHARS:
        raise ValidationFailed.of_field(
            "body", f"a message has at most {limits.SOCKET_REQUEST_CHARS} characters"
        )
    value = parse_json(text)
    if not isinstance(value, dict):
        raise ValidationFailed.of_field("body", "a message is a JSON object")
    return value


def _parsed_subject(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return action and subject. Raises ValidationFailed."""
    good = {
        "action": value.get("action") in _ACTIONS,
        "subject": isinstance(value["subject"], str),
    }
    _require_good(value, good)
    return value["action"], value["subject"]


def _parsed(value: Mapping[str, Any]) -> tuple[str, str, str | None]:
    """Return action, job id and position. Raises ValidationFailed."""
    good = {
        "action": value.get("action") in _ACTIONS,
        "job_id": isinstance(value.get("job_id"), str),
        "after": _is_position(value.get("after")),
    }
    _require_good(value, good)
    return value["action"], value["job_id"], value.get("after")


def _require_good(value: Mapping[str, Any], good: Mapping[str, bool]) -> None:
    """Raise ValidationFailed if a field is invalid or isn't named in `good`."""
    known = f"known are {', '.join(f'`{name}`' for name in good)}"
    fields = [field_error(name, _MUST_BE[name]) for name, is_good in good.items() if not is_good]
    fields += [field_error(name, "is unknown", known) for name in sorted(value.keys() - good)]
    if fields:
        names = ", ".join(str(each["path"]) for each in fields)
        raise ValidationFailed(f"invalid: {names}", details={"fields": fields})
