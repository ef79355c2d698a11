"""The inbox: the use cases behind its routes and its bucket's event rule."""

from __future__ import annotations

import logging
from datetime import timedelta

from spinneret.crawl.inbox import limits
from spinneret.crawl.inbox.models import InboxFile, InboxFileView, InboxForm
from spinneret.crawl.inbox.ports import InboxStore
from spinneret.crawl.kinds import CRAWL_FILE
from spinneret.crawl.reading import batch_view_of
from spinneret.jobs.models import Draft, JobRef, Priority, Reply
from spinneret.jobs.service import JobService
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import NotFound
from spinneret.kernel.ids import NewId
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)


@service
class InboxService:
    """Manages a tenant's files."""

    store: InboxStore
    jobs: JobService
    clock: Clock
    new_id: NewId

    def begin(self, tenant: str, name: str) -> tuple[str, InboxForm]:
        """Return an id, and a form to upload one file of this name."""
        inbox_id = self.new_id("inbox")
        key = f"T/{tenant}/inbox/{inbox_id}/{name}"
        seconds = limits.INBOX_FORM_SECONDS
        url, fields = self.store.form(key, seconds=seconds)
        expires_at = self.clock() + timedelta(seconds=seconds)
        return inbox_id, InboxForm(key=key, url=url, fields=fields, expires_at=expires_at)

    def get(self, tenant: str, job_id: str) -> InboxFileView:
        """Return a file by its job's id. Raises NotFound."""
        job = self.jobs.get(JobRef(tenant=tenant, job_id=job_id), CRAWL_FILE)
        counts = self.jobs.counts(job)
        assert job.family is not None  # a parent
        assert counts is not None
        file = InboxFile.of(tenant, job.payload)
        link = None
        if job.family.cursor is None:
            link = self.store.link(file.report_key, limits.INBOX_LINK_SECONDS)
        shared = batch_view_of(job, counts).model_dump()
        return InboxFileView(**shared, name=file.name, report_url=link)


class InboxIngest:
    """Submits a job for each object that was uploaded to the inbox's bucket."""

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    def __call__(self, key: str, version: str) -> str | None:
        """Return the id of this object version's job, which its first event creates.

        Returns None for keys outside of all inboxes. Raises DependencyUnavailable.
        """
        try:
            file = InboxFile.arrived(key, version)
        except NotFound:
            logger.warning("inbox_key_unknown")
            return None
        draft = Draft(
            kind=CRAWL_FILE,
            payload=file.payload,
            priority=Priority.NORMAL,
            duplicate_key=fingerprint({"kind": CRAWL_FILE, "key": key, "version": version}),
            once=True,
        )
        submitted = self._jobs.submit(
            file.tenant,
            [draft],
            None,
            lambda placed: Reply(status=202, body={"job_id": placed[0].job.id}),
            parents=True,
        )
        return str(submitted.reply.body["job_id"])
