"""Responses about jobs that all areas share."""

import json
import logging
from collections.abc import Callable
from typing import Any, Final

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from pydantic import BaseModel

from spinneret.access.keys.models import Principal
from spinneret.access.limits import KEY_KNOWN_SECONDS
from spinneret.access.wiring import admitting
from spinneret.jobs.api_models import Moved, event_view
from spinneret.jobs.control import JobControl
from spinneret.jobs.keys import is_event_id
from spinneret.jobs.limits import WAIT_SECONDS
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job, JobRef, Transition
from spinneret.jobs.service import Submitted
from spinneret.kernel.errors import DependencyUnavailable, ValidationFailed
from spinneret.runtime import limits
from spinneret.runtime.http.requests import deadline, submitted
from spinneret.runtime.http.routes import SERVICES

logger = logging.getLogger(__name__)

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


def waited(
    router: Router,
    waits: JobWaits,
    caller: Principal,
    outcome: Submitted,
    seconds: int,
    result: Callable[[Job], BaseModel],
) -> Response[dict[str, Any]]:
    """Return a submission's result with 200 if its job ends within `seconds`, else its 202.

    The submission was accepted, so an outage of our store during the wait changes the answer only
    to 202.
    """
    answer = submitted(outcome)
    if not seconds:
        return answer
    ref = JobRef(tenant=caller.tenant, job_id=outcome.reply.body["job_id"])
    try:
        job = waits.end(ref, deadline(router, waits.clock(), seconds))
        if job is not None:
            answer.body = result(job).model_dump(mode="json")
            answer.status_code = 200
    except DependencyUnavailable as error:
        logger.warning("wait_failed", extra={"job_id": ref.job_id, "reason": error.message})
    return answer


def event_stream(
    router: Router, waits: JobWaits, caller: Principal, job_id: str, *kinds: str
) -> Response[str]:
    """Return server-sent events as a long poll, since API Gateway buffers (HTML standard, section
    9.2).

    The client reconnects by itself with `Last-Event-ID`; status 204 makes it stop. Raises NotFound,
    also for a job of none of the given kinds, and ValidationFailed for an id that no event has. A
    caller whose credential was revoked during the wait gets no events; the next request is refused.
    """
    after = router.current_event.headers.get(_LAST_EVENT_ID) or None
    if after is not None and not is_event_id(after):
        raise ValidationFailed.of_field(
            _LAST_EVENT_ID,
            "not an event's id",
            "send the last `id` of this job's stream, or leave it out",
        )
    ref, began = JobRef(tenant=caller.tenant, job_id=job_id), waits.clock()
    events = waits.events(ref, after, deadline(router, began, WAIT_SECONDS), *kinds)
    if (waits.clock() - began).total_seconds() >= KEY_KNOWN_SECONDS:
        keys = router.context[SERVICES](admitting).keys
        if not keys.holds(caller):
            events = []
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
