"""Messages about domain events, and the jobs that deliver them.

A URL may contain a secret (`?token=…`, a path of Slack's). The `webhook_url` of a single job is
stored in clear text in that job's `notify` and in the payload of the job that delivers to it,
because it is needed for sending. Its headers are stored sealed. Neither is part of a job's view or
timeline; the delivery log has the URL without secrets.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.webhooks.models import Message, WebhookEvent
from spinneret.events.webhooks.targets import decoded, encoded, url_target
from spinneret.jobs.models import Draft, Priority
from spinneret.kernel.canonical import canonical_json, fingerprint
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.ids import uuid7_hex
from spinneret.outbox.models import DomainEvent
from spinneret.web.fetching.urls import parse_url

ID_PREFIX: Final = "dlv"


def message_about(event: DomainEvent, target: str, name: str, *, is_end: bool) -> Message:
    """Return the message about an event for one target (see `targets`), under the event name
    `name`.

    `is_end` means that the event is the end of a job, whose messages have their own format. The
    same event and target always give the same message, including id and body.
    """
    own = url_target(target)
    digest = hashlib.sha256(canonical_json([event.id, target])).digest()
    return Message(
        id=f"{ID_PREFIX}_{uuid7_hex(event.occurred_at, digest[:10])}",
        endpoint_id=None if own else target,
        url=own.url if own else None,
        sealed_headers=own.sealed_headers if own else (),
        event=name,
        body=_end_body(event, name) if is_end else _event_body(event),
        created_at=event.occurred_at,
    )


def trial_message(message_id: str, endpoint_id: str, now: datetime) -> Message:
    """Return the `webhook.test` message, which is about no job."""
    return Message(
        id=message_id,
        endpoint_id=endpoint_id,
        url=None,
        event=WebhookEvent.TEST,
        body=_text(
            {
                "type": WebhookEvent.TEST,
                "timestamp": to_iso(now),
                "data": {"endpoint_id": endpoint_id},
            }
        ),
        created_at=now,
    )


def draft_of(message: Message, url: str, duplicate_key: str | None, *, once: bool = False) -> Draft:
    """Return the job that delivers a message; `url` only names the host in lists of jobs."""
    return Draft(
        kind=DELIVERY,
        payload={
            "id": message.id,
            "endpoint_id": message.endpoint_id,
            "url": message.url,
            "headers": encoded(message.sealed_headers),
            "event": message.event,
            "body": message.body,
            "created_at": to_iso(message.created_at),
        },
        priority=Priority.NORMAL,
        domain=parse_url(url).host,
        duplicate_key=duplicate_key,
        once=once,
    )


def message_of(payload: Mapping[str, Any]) -> Message:
    """Convert the payload of a `draft_of` job back to a message."""
    return Message(
        id=payload["id"],
        endpoint_id=payload["endpoint_id"],
        url=payload["url"],
        sealed_headers=decoded(payload["headers"]),
        event=payload["event"],
        body=payload["body"],
        created_at=parse_stamp(payload["created_at"]),
    )


def delivery_key(event: DomainEvent, target: str) -> str:
    """Return the key of one event's delivery to one target; repeating it adds no second job."""
    return fingerprint({"kind": DELIVERY, "event": event.id, "target": target})


def redelivery_key(message: Message, job_id: str) -> str:
    """Return the key of the redelivery that follows the job `job_id`."""
    return fingerprint({"kind": DELIVERY, "message": message.id, "after": job_id})


def _end_body(event: DomainEvent, name: str) -> str:
    """Return the format of messages about ends of jobs, plus `event_id` and `sequence`, which
    identify repetitions and order.
    """
    moment = to_iso(event.occurred_at)
    about = {"event_id": event.id, "sequence": event.sequence}
    return _text({"type": name, "timestamp": moment, "data": event.data, **about})


def _event_body(event: DomainEvent) -> str:
    return _text(
        {
            "id": event.id,
            "type": event.type,
            "created_at": to_iso(event.occurred_at),
            "sequence": event.sequence,
            "data": event.data,
        }
    )


def _text(message: Mapping[str, Any]) -> str:
    """Return at most 64 KB, since an event's data is within OUTBOX_DATA_BYTES."""
    return canonical_json(message).decode("utf-8", "replace")
