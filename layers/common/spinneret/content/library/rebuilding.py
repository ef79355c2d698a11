"""Rebuilds the chunk index of a stage, as a job of its own tenant.

DynamoDB and S3 are authoritative. The job scans all tenants' rows in pages and fills a new index in
bulks; its step holds the position, so that the next claim continues there. Searches change to the
index when it is complete.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from spinneret.content import limits
from spinneret.content.documents.models import Document
from spinneret.content.documents.ports import DocumentScan, IndexRecord
from spinneret.content.library.filling import IndexFiller
from spinneret.content.library.kinds import REBUILD_STAGE
from spinneret.content.search.ports import IndexUpkeep
from spinneret.jobs.models import Draft, Job, JobEventKind, JobRef, Priority, Reply
from spinneret.jobs.service import JobService
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining
from spinneret.kernel.service import service

STAGE: Final = "_stage"
"""Tenant of jobs that concern all tenants; no API key belongs to it."""
_STEP: Final = re.compile(r"indexed (\d+) documents, (\d+) lost, up to (.+)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class _Position:
    """Position of a rebuild."""

    documents: int = 0
    lost: int = 0
    after: str | None = None
    """Partition key of the last row; None before the first."""

    @property
    def step(self) -> str:
        """The job's step at this position."""
        if self.after is None:
            return "beginning"
        return f"indexed {self.documents} documents, {self.lost} lost, up to {self.after}"

    @classmethod
    def of(cls, step: str | None) -> _Position:
        """Return the position of a job's step."""
        found = _STEP.fullmatch(step or "")
        if found is None:
            return cls()
        return cls(documents=int(found[1]), lost=int(found[2]), after=found[3])


@service
class IndexRebuild:
    """Handles `rebuild_stage_index` jobs."""

    scan: DocumentScan
    upkeep: IndexUpkeep
    filler: IndexFiller
    record: IndexRecord

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the new index and the numbers of documents examined and lost."""

        def left() -> float:
            return context.remaining() - bounds.DEADLINE_MARGIN_SECONDS

        position = _Position.of(context.job.step)
        context.checkpoint(position.step, 5)
        target = self.upkeep.begin(left)
        after: Mapping[str, Any] | None = {"pk": position.after} if position.after else None
        while True:
            page = self.scan.scan(after, limits.UPKEEP_PAGE)
            filled = self.filler.fill(
                target, page.documents, left, partial(context.checkpoint, position.step, 10)
            )
            for each in filled.lost:
                context.note(JobEventKind.WARNING, "document lost", _named(each))
            position = _Position(
                documents=position.documents + len(page.documents),
                lost=position.lost + len(filled.lost),
                after=None if page.after is None else str(page.after["pk"]),
            )
            after = page.after
            if after is None:
                break
            context.checkpoint(position.step, 10)
        context.checkpoint("changing over", 95)
        self.upkeep.finish(target, left)
        self.record.changed()
        return {"index": target, "documents": position.documents, "lost": position.lost}


@service
class RebuildRequests:
    """Begins rebuilds and shows their progress, for operators."""

    jobs: JobService

    def __call__(self, request: Mapping[str, Any], _remaining: Remaining) -> Mapping[str, Any]:
        """Return the job `job_id`; without an id, the unfinished rebuild or a new one.

        Raises NotFound and DependencyUnavailable.
        """
        job_id = request.get("job_id") or self._begun()
        job = self.jobs.get(JobRef(tenant=STAGE, job_id=str(job_id)), REBUILD_STAGE)
        return _shown(job)

    def _begun(self) -> str:
        draft = Draft(
            kind=REBUILD_STAGE, payload={}, priority=Priority.LOW, duplicate_key=REBUILD_STAGE
        )
        reply = self.jobs.submit(
            STAGE,
            [draft],
            None,
            lambda placed: Reply(status=202, body={"job_id": placed[0].job.id}),
        ).reply
        return str(reply.body["job_id"])


def _named(document: Document) -> dict[str, str]:
    return {"tenant": document.tenant, "document_id": document.id}


def _shown(job: Job) -> dict[str, Any]:
    return {
        "job_id": job.id,
        "status": job.status.value,
        "step": job.step,
        "result": job.result,
        "error": None if job.last_error is None else job.last_error.message,
    }
