"""Messages about the ends of jobs, and the jobs that deliver them.

A URL may hold a secret (`?token=…`, a path of Slack's). The `webhook_url` of a single job stands in
clear text in that job's `notify` and in the payload of the job that delivers to it, because it has
to be sent to; its headers stand there sealed. Neither is part of a job's view or timeline; the
delivery log has the URL without secrets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.webhooks.models import Message, WebhookEvent
from spinneret.events.webhooks.targets import decoded, encoded, url_target
from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Draft, Job, JobStatus, Priority
from spinneret.kernel import bounds
from spinneret.kernel.canonical import canonical_json, fingerprint
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.kernel.ids import uuid7_hex
from spinneret.redaction import redact, redact_text
from spinneret.web.fetching.urls import parse_url

ID_PREFIX: Final = "dlv"


def event_of(job: Job) -> WebhookEvent:
    """The event type of a job's end; a partial failure counts as a failure."""
    completed = job.status is JobStatus.COMPLETED
    return WebhookEvent.JOB_COMPLETED if completed else WebhookEvent.JOB_FAILED


def message_about(job: Job, target: str) -> Message:
    """The message about the end of a job's run for one of its targets (see `targets`).

    The same run and target always give the same message, id and body included.
    """
    ended = job.finished_at
    assert ended is not None  # only a finished run is reported
    own = url_target(target)
    return Message(
        id=f"{ID_PREFIX}_{uuid7_hex(ended, _digest(job, target)[:10])}",
        endpoint_id=None if own else target,
        url=own.url if own else None,
        sealed_headers=own.sealed_headers if own else (),
        event=event_of(job),
        body=_body(event_of(job), ended, _about(job)),
        created_at=ended,
    )


def trial_message(message_id: str, endpoint_id: str, now: datetime) -> Message:
    """The `webhook.test` message, which is about no job."""
    return Message(
        id=message_id,
        endpoint_id=endpoint_id,
        url=None,
        event=WebhookEvent.TEST,
        body=_body(WebhookEvent.TEST, now, {"endpoint_id": endpoint_id}),
        created_at=now,
    )


def draft_of(message: Message, url: str, duplicate_key: str | None, *, once: bool = False) -> Draft:
    """The job that delivers a message; `url` only names the host in lists of jobs."""
    return Draft(
        kind=DELIVERY,
        payload={
            "id": message.id,
            "endpoint_id": message.endpoint_id,
            "url": message.url,
            "headers": encoded(message.sealed_headers),
            "event": message.event,
            "body": message.body,
            "created_at": stamp(message.created_at),
        },
        priority=Priority.NORMAL,
        domain=parse_url(url).host,
        duplicate_key=duplicate_key,
        once=once,
    )


def message_of(payload: Mapping[str, Any]) -> Message:
    """The inverse of `draft_of`."""
    return Message(
        id=payload["id"],
        endpoint_id=payload["endpoint_id"],
        url=payload["url"],
        sealed_headers=decoded(payload["headers"]),
        event=WebhookEvent(payload["event"]),
        body=payload["body"],
        created_at=parse_stamp(payload["created_at"]),
    )


def notification_key(job: Job, target: str) -> str:
    """Identifies the notification of one run to one target, so that repeating it adds no second
    job."""
    return fingerprint({"kind": DELIVERY, "job": job.id, "run": job.run, "target": target})


def redelivery_key(message: Message, job_id: str) -> str:
    """Identifies the redelivery that follows the job `job_id`."""
    return fingerprint({"kind": DELIVERY, "message": message.id, "after": job_id})


def _about(job: Job) -> dict[str, Any]:
    """The job's view of its end, with secrets redacted from the crawled URLs."""
    view = job_view(job)
    url = job.payload.get("url")
    reported = {
        "job_id": job.id,
        "kind": job.kind,
        "run": job.run,
        "status": job.status,
        "url": redact_text(url) if isinstance(url, str) else None,
        "domain": job.domain,
        "result": redact(view.result),
        "error": view.error,
    }
    return {name: value for name, value in reported.items() if value is not None}


def _body(event: WebhookEvent, moment: datetime, data: Mapping[str, Any]) -> str:
    """At most WEBHOOK_BODY_MAX_BYTES: a result that makes it larger is left out.

    What isn't UTF-8 (a lone surrogate) becomes the replacement character.
    """
    message = {"type": event, "timestamp": stamp(moment), "data": data}
    body = canonical_json(message).decode("utf-8", "replace")
    if "result" not in data or len(body.encode()) <= bounds.WEBHOOK_BODY_MAX_BYTES:
        return body
    rest = {name: value for name, value in data.items() if name != "result"}
    return _body(event, moment, {**rest, "truncated": True})


def _digest(job: Job, target: str) -> bytes:
    return hashlib.sha256(canonical_json([job.tenant, job.id, job.run, target])).digest()
