"""Views of media jobs."""

from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs.api_models import job_view
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import to_iso
from spinneret.media import limits
from spinneret.media.api_models import MediaError, MediaView, ScriptView
from spinneret.media.ports import MediaStore


def media_view(job: Job, store: MediaStore, now: datetime) -> MediaView:
    """Return the view of a job, with a URL of its object while that is kept."""
    found = dict(job.result or {}) if job.status is JobStatus.COMPLETED else {}
    shared, failure = job_view(job), job.last_error
    until = _kept_until(job, found)
    has_object = until is not None and now < until
    return MediaView(
        job_id=job.id,
        kind=job.kind,
        url=job.payload["url"],
        status=job.status,
        progress=job.progress,
        step=job.step,
        attempts=job.attempts,
        final_url=found.get("url"),
        status_code=found.get("status_code"),
        media_type=found.get("media_type"),
        bytes=found.get("bytes"),
        is_cut=found.get("is_cut"),
        scripts=_scripts(found.get("scripts")),
        console_errors=found.get("console_errors"),
        requests=found.get("requests"),
        transferred_bytes=found.get("transferred_bytes"),
        render_ms=found.get("render_ms"),
        download_url=store.link(found["key"], bounds.DOWNLOAD_SECONDS) if has_object else None,
        expires_at=None if until is None else to_iso(until),
        created_at=shared.created_at,
        finished_at=shared.finished_at,
        duration_ms=shared.duration_ms,
        error=None
        if failure is None
        else MediaError(error=failure.message, code=failure.code, details=dict(failure.details)),
        error_type=shared.error_type,
    )


def _kept_until(job: Job, found: dict[str, Any]) -> datetime | None:
    if not found or job.finished_at is None:
        return None
    return job.finished_at + timedelta(seconds=limits.MEDIA_KEPT_SECONDS)


def _scripts(stored: list[dict[str, Any]] | None) -> list[ScriptView] | None:
    return None if stored is None else [ScriptView(**each) for each in stored]
