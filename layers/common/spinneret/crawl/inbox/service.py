"""The inbox: the use cases behind its routes and its bucket's event rule."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import UPLOAD, InboxFile, InboxFileView, InboxForm
from spinneret.crawl.inbox.ports import InboxStore
from spinneret.crawl.kinds import CRAWL_FILE
from spinneret.crawl.reading import batch_view_of
from spinneret.jobs import rules
from spinneret.jobs.models import Draft, JobRef, JobStatus, Priority, Reply
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock, to_iso
from spinneret.kernel.errors import Contended, LeaseLost, NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_RACES: Final = 5  # moves of the tenant that may interleave


@service
class InboxService:
    """Manages a tenant's files."""

    store: InboxStore
    jobs: JobService
    clock: Clock
    new_id: NewId

    def begin(self, tenant: str, name: str) -> tuple[str, InboxForm]:
        """Submit a job that waits for its file; return its id, and a form to upload the file."""
        job_id, now = self.new_id("job"), self.clock()
        key = f"T/{tenant}/inbox/{job_id}/{name}"
        seconds = limits.INBOX_FORM_SECONDS
        url, fields = self.store.form(key, seconds=seconds)
        arrives_by = now + timedelta(seconds=limits.INBOX_ARRIVAL_SECONDS)
        draft = Draft(
            kind=CRAWL_FILE,
            payload={"key": key, "name": name, "arrives_by": to_iso(arrives_by)},
            priority=Priority.NORMAL,
            duplicate_key=None,
            id=job_id,
            due_at=arrives_by,
            waiting_for=UPLOAD,
        )
        self.jobs.submit(tenant, [draft], None, _accepted, parents=True)
        expires_at = now + timedelta(seconds=seconds)
        return job_id, InboxForm(key=key, url=url, fields=fields, expires_at=expires_at)

    def get(self, tenant: str, job_id: str) -> InboxFileView:
        """Return a file by its job's id. Raises NotFound."""
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), CRAWL_FILE)
        counts = self.jobs.counts(job)
        assert job.family is not None  # a parent
        assert counts is not None
        link = None
        if job.family.cursor is None:
            file = InboxFile.of(tenant, job.payload)
            link = self.store.link(file.report_key, limits.INBOX_LINK_SECONDS)
        shared = batch_view_of(job, counts).model_dump()
        return InboxFileView(
            **shared,
            name=job.payload["name"],
            waiting_for=job.waiting_for,
            report_url=link,
        )


@service
class InboxIngest:
    """Starts a job for each object that was uploaded to the inbox's bucket.

    The first object of a form is the input of the form's job. Another one under the same key, or
    one that comes after that job has failed, gets a job of its own.
    """

    jobs: JobService

    def __call__(self, key: str, version: str) -> str | None:
        """Return the id of this object version's job, which its first event starts.

        Returns None for keys outside of all inboxes. Raises DependencyUnavailable, Contended if the
        form's job keeps changing, and Conflict while it is running.
        """
        try:
            file = InboxFile.arrived(key, version)
        except NotFound:
            logger.warning("inbox_key_unknown")
            return None
        return self._supplied(file) or self._submitted(file)

    def _supplied(self, file: InboxFile) -> str | None:
        """Supply the job of the file's form; return None if there is none that takes the file."""
        ref = JobRef(tenant=file.tenant, job_id=file.job_id)
        for _ in range(_RACES):
            try:
                job = self.jobs.get(ref, CRAWL_FILE)
            except NotFound:
                return None
            if (version := job.payload.get("version")) is not None:
                return job.id if version == file.version else None
            if job.status is JobStatus.CANCELLED:
                return job.id
            if job.status in rules.TERMINAL:
                return None
            try:
                self.jobs.supply(job, file.payload)
            except LeaseLost:
                continue
            return job.id
        raise Contended("the job of the form is changing", retry_after=1)

    def _submitted(self, file: InboxFile) -> str:
        duplicate_key = fingerprint({"kind": CRAWL_FILE, "key": file.key, "version": file.version})
        draft = Draft(
            kind=CRAWL_FILE,
            payload=file.payload,
            priority=Priority.NORMAL,
            duplicate_key=duplicate_key,
            once=True,
        )
        submitted = self.jobs.submit(file.tenant, [draft], None, _accepted, parents=True)
        return str(submitted.reply.body["job_id"])


def _accepted(placed: Sequence[Placed]) -> Reply:
    return Reply(status=202, body={"job_id": placed[0].job.id})
