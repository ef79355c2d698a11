"""Responses about jobs that all areas share."""

from __future__ import annotations

import json
from typing import Final

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from spinneret.access.keys.models import Principal
from spinneret.jobs.api_models import Moved, event_view
from spinneret.jobs.control import JobControl
from spinneret.jobs.keys import is_event_id
from spinneret.jobs.models import JobRef, Transition
from spinneret.kernel.errors import ValidationFailed
from spinneret.runtime import limits

_LAST_EVENT_ID: Final = "Last-Event-ID"
_SAID: Final = {
    Transition.CANCEL: "cancelled",
    Transition.PAUSE: "paused",
    Transition.RESUME: "resumed",
    Transition.RETRY: "begun again",
}


def moved(jobs: JobControl, caller: Principal, job_id: str, move: Transition) -> Moved:
    """Move a job and return the response."""
    job = jobs.move(JobRef(tenant=caller.tenant, job_id=job_id), move)
    return Moved(job_id=job.id, status=job.status, message=_SAID[move])


def event_stream(router: Router, jobs: JobControl, caller: Principal, job_id: str) -> Response[str]:
    """Return server-sent events as a long poll, since API Gateway buffers (HTML standard, section
    9.2).

    The client reconnects by itself with `Last-Event-ID`; status 204 makes it stop. Raises NotFound,
    and ValidationFailed for an id that no event has.
    """
    after = router.current_event.headers.get(_LAST_EVENT_ID) or None
    if after is not None and not is_event_id(after):
        raise ValidationFailed("not an event's id", details={"fields": [{"field": _LAST_EVENT_ID}]})
    ref = JobRef(tenant=caller.tenant, job_id=job_id)
    events = jobs.wait_for_events(ref, after)
    if events is None:
        return Response(status_code=204, content_type="text/event-stream", body="")
    parts = [f"retry: {limits.STREAM_RETRY_MS}\n\n"]
    for event in events:
        view = event_view(event)
        data = json.dumps(view.model_dump(mode="json"), ensure_ascii=False)
        parts.append(f"id: {view.id}\nevent: {view.event}\ndata: {data}\n\n")
    return Response(
        status_code=200,
        content_type="text/event-stream; charset=utf-8",
        body="".join(parts),
        headers={"Cache-Control": "no-cache"},
    )
