"""Replies to submitted document jobs."""

from collections.abc import Sequence

from spinneret.content.library.api_models import (
    Accepted,
    DocumentBatch,
    DocumentOutcome,
    Refusal,
)
from spinneret.content.library.service import Checked
from spinneret.jobs.models import Reply
from spinneret.jobs.placement import Placed
from spinneret.kernel.errors import PermanentError


def accepted(placed: Sequence[Placed]) -> Reply:
    """Return the reply to one submission."""
    [only] = placed
    payload = only.job.payload
    body = Accepted(
        job_id=only.job.id,
        status=only.job.status,
        message="accepted",
        document_id=payload.get("document_id"),
        url=payload.get("url"),
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def batch(checked: Sequence[Checked], placed: Sequence[Placed]) -> Reply:
    """Return the reply to a batch, in the order of its uploads."""
    remaining = iter(placed)
    outcomes = [
        _refused(each.error) if each.error else _outcome(next(remaining)) for each in checked
    ]
    body = DocumentBatch(
        jobs=outcomes,
        total_submitted=len(placed),
        failed_count=len(outcomes) - len(placed),
    )
    return Reply(status=202, body=body.model_dump(mode="json"))


def _outcome(placed: Placed) -> DocumentOutcome:
    payload = placed.job.payload
    return DocumentOutcome(
        job_id=placed.job.id,
        status=placed.job.status,
        message="accepted",
        document_id=payload.get("document_id"),
        url=payload.get("url"),
    )


def _refused(error: PermanentError) -> DocumentOutcome:
    view = Refusal(error=error.message, code=error.code, details=error.details)
    return DocumentOutcome(message="refused", error=view)
