"""Handler of media jobs: open the page, take its output, store it under the job's id."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from spinneret.jobs.leases import Remaining
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.errors import NotFound
from spinneret.kernel.service import service
from spinneret.media import limits
from spinneret.media.models import Terms, media_type_of, read_terms
from spinneret.media.ports import MediaStore
from spinneret.web.browser.models import (
    Pdf,
    RenderRequest,
    Screenshot,
    ScriptOutcome,
    Scripts,
)
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller, FetchOptions, WaitUntil
from spinneret.web.polite_browser import PoliteBrowser, Rendered


@service
class MediaHandler:
    """Handle jobs of all kinds of media."""

    browser: PoliteBrowser
    store: MediaStore

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the job's result. A repeated attempt replaces the object of the former one.

        Raises Defer if the page must wait for its host, and domain errors.
        """
        job = context.job
        terms = read_terms(job.kind, job.payload)
        task = self._task(job, terms)
        context.checkpoint("rendering", 10)
        rendered = self._rendered(context, terms, task)
        context.checkpoint("storing", limits.MEDIA_CHECKPOINT_PERCENT)  # the claim still holds
        outcomes = _outcomes(rendered.output.scripts)
        body = _json(outcomes) if isinstance(task, Scripts) else rendered.output.body
        media_type = media_type_of(task)
        key = self.store.keep(job.ref, media_type, body)
        shown = isinstance(task, Scripts) and len(body) <= limits.SCRIPTS_SHOWN_BYTES
        result = {
            **_facts(rendered),
            "key": key,
            "media_type": media_type,
            "bytes": len(body),
            "scripts": outcomes if shown else None,
        }
        return dict(json.loads(_json(result)))

    def _task(self, job: Job, terms: Terms) -> Screenshot | Pdf | Scripts:
        if terms.task is not None:
            return terms.task
        assert terms.scripts_id is not None  # a job has a task or scripts
        sources = self.store.scripts(job.tenant, terms.scripts_id)
        if sources is None:
            raise NotFound("the scripts were removed before the job began")
        return Scripts(sources=sources)

    def _rendered(
        self, context: Context, terms: Terms, task: Screenshot | Pdf | Scripts
    ) -> Rendered:
        job = context.job
        answer = self.browser.render(
            Caller(tenant=job.tenant, id=f"{job.id}/{job.run}", reservation=job.waiting_for),
            RenderRequest(
                url=parse_url(terms.url),
                task=task,
                viewport=terms.viewport,
                wait_for=terms.wait_for,
                wait_seconds=terms.wait_seconds,
                left_seconds=lambda: _left(context.remaining),
            ),
            FetchOptions(),
        )
        if isinstance(answer, WaitUntil):
            raise Defer(answer.until, answer.waiting_for)
        return answer


def _left(remaining: Remaining) -> float:
    """Return the seconds available for the page. Raises ReleaseJob if they are too few."""
    left = remaining() - bounds.DEADLINE_MARGIN_SECONDS
    if left < limits.MEDIA_LEAST_SECONDS:
        raise ReleaseJob
    return left


def _facts(rendered: Rendered) -> dict[str, Any]:
    output = rendered.output
    return {
        "url": output.url.text,
        "redirects": list(rendered.page.redirects),
        "status_code": output.status_code,
        "content_type": output.media_type,
        "is_cut": output.is_cut,
        "console_errors": list(output.console_errors),
        "requests": output.requests,
        "transferred_bytes": output.transferred_bytes,
        "render_ms": output.duration_ms,
    }


def _outcomes(scripts: Sequence[ScriptOutcome]) -> list[dict[str, Any]]:
    return [
        {"value": None, "error": _error(each)}
        if each.error is not None
        else {"value": json.loads(each.value or "null"), "error": None}
        for each in scripts
    ]


def _error(outcome: ScriptOutcome) -> dict[str, Any]:
    error = outcome.error
    assert error is not None  # asked for failed scripts only
    return {"error": error.message, "code": error.code, "details": error.details}


def _json(value: Any) -> bytes:
    """Return JSON; `?` replaces half an emoji, which scripts cut off and no store takes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
