"""Leases of URLs: one worker of a tenant at a time fetches a URL and commits its document."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Protocol

from spinneret.content.documents.models import Document, UrlBusy, UrlLease, UrlTaken
from spinneret.content.documents.ports import DocumentStore, UrlLeaseLost
from spinneret.content.documents.rules import document_id
from spinneret.crawl import limits
from spinneret.jobs.leases import lease_end
from spinneret.jobs.models import Job
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.web.fetching.urls import Url, cache_url
from spinneret.web.models import WaitUntil
from spinneret.web.permits import FetchDeferred
from spinneret.web.politeness.rules import host_key

logger = logging.getLogger(__name__)


class LeaseClaim(Protocol):
    """The claim that takes a URL: of a job, or of a page of a deep crawl."""

    @property
    def job(self) -> Job:
        """Job of the tenant, with its reservation."""

    @property
    def owner(self) -> str:
        """Name that no other claim has."""

    @property
    def remaining(self) -> Remaining:
        """Function that returns the invocation's remaining seconds."""


class HeldUrl:
    """The lease of the URL that a claim works on; it moves along redirects."""

    def __init__(self, documents: DocumentStore, clock: Clock, claim: LeaseClaim, url: Url) -> None:
        """Take the URL. Raises FetchDeferred if another worker has it."""
        self._documents = documents
        self._clock = clock
        self._claim = claim
        self._taken = self._take(url)

    @property
    def document(self) -> Document | None:
        """The URL's document when its lease was taken."""
        return self._taken.document

    @property
    def taken(self) -> UrlTaken:
        """The lease for the commit, and the document that it found."""
        return self._taken

    def follow(self, url: Url) -> None:
        """Take the target of a redirect and leave the URL before it.

        Raises FetchDeferred if another worker has the target.
        """
        if self._id(url) != self._taken.lease.document_id:
            left, self._taken = self._taken, self._take(url)
            self._documents.release_url(left)

    def release(self) -> None:
        """Leave the URL without a commit; a lease that can't be written expires."""
        try:
            self._documents.release_url(self._taken)
        except DependencyUnavailable as error:
            logger.warning("url_lease_kept", extra={"reason": error.message})

    def _take(self, url: Url) -> UrlTaken:
        job, now = self._claim.job, self._clock()
        lease = UrlLease(
            tenant=job.tenant,
            document_id=self._id(url),
            holder=self._claim.owner,
            until=lease_end(self._clock, self._claim.remaining),
        )
        found = self._documents.take_url(lease, now)
        if isinstance(found, UrlBusy):
            until = min(found.until, now + timedelta(seconds=limits.URL_WAIT_SECONDS))
            raise FetchDeferred(WaitUntil(until=until, waiting_for=_waiting_for(job, url)))
        return found

    def _id(self, url: Url) -> str:
        return document_id(self._claim.job.tenant, cache_url(url))


@service
class UrlLeases:
    """Leases of the URLs of all tenants."""

    documents: DocumentStore
    clock: Clock

    @contextmanager
    def hold(self, claim: LeaseClaim, url: Url) -> Iterator[HeldUrl]:
        """Hold a URL until a commit under its lease, or until an error.

        Raises Defer, before the work or at a redirect, if another worker has the URL, and
        ReleaseJob if the lease was lost before the commit.
        """
        try:
            held = HeldUrl(self.documents, self.clock, claim, url)
            try:
                yield held
            except UrlLeaseLost:  # another worker has the URL
                raise
            except Exception:
                held.release()
                raise
        except FetchDeferred as deferred:
            raise Defer(deferred.wait.until, deferred.wait.waiting_for) from deferred
        except UrlLeaseLost as lost:
            logger.info("url_lease_lost", extra={"job_id": claim.job.id, "url": url.text})
            raise ReleaseJob from lost


def _waiting_for(job: Job, url: Url) -> str:
    """Return what the job waits for; a reservation at the host stays valid meanwhile."""
    host = host_key(url.host)
    return host if job.waiting_for == host else f"{host}: another crawl of the page"
