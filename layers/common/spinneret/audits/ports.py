"""Ports of audits."""

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Protocol

from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.models import Artifact, Finished, Progress, RunRef
from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page


class AuditStore(Protocol):
    """Rows of audits. Methods raise DependencyUnavailable.

    Writes can be repeated; they raise LeaseLost if their claim has ended.
    """

    def progress(self, ref: RunRef) -> Progress | None:
        """Return the progress of a run; None if it has just begun."""

    def keep_progress(self, progress: Progress, lease: Lease) -> None:
        """Replace the progress of a run."""

    def keep_page(self, ref: RunRef, place: str, facts: bytes, lease: Lease) -> None:
        """Store the compressed facts of a page under its place in the crawl."""

    def pages(self, ref: RunRef) -> Iterator[bytes]:
        """Yield the facts of all pages, ordered by place."""

    def keep_outcomes(
        self, ref: RunRef, number: int, outcomes: Mapping[str, LinkOutcome], lease: Lease
    ) -> None:
        """Store the outcomes of some URLs; a write with the same `number` replaces them."""

    def outcomes(self, ref: RunRef) -> tuple[dict[str, LinkOutcome], int]:
        """Return all outcomes, and the number of the next write."""

    def keep_artifacts(self, artifacts: Sequence[Artifact], lease: Lease) -> None:
        """Write the rows of at most ten objects before the objects themselves are written."""

    def artifacts(
        self, tenant: str, audit_id: str, after: str | None, limit: int
    ) -> Page[Artifact]:
        """Return a page of an audit's artifacts, of all its runs."""

    def finish(self, progress: Progress, finished: Finished, lease: Lease) -> None:
        """Write a run's result and its place among the audits of its site in one transaction."""

    def finished(self, ref: RunRef) -> Finished | None:
        """Return a run's result; None without one."""

    def finished_before(self, tenant: str, site_key: str, place: str) -> Finished | None:
        """Return the last audit of the site before `place`; None if there is none."""


class AuditObjectStore(Protocol):
    """Objects of audits. Methods raise DependencyUnavailable."""

    def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        """Write an object; replace an existing one."""

    def get(self, key: str) -> bytes | None:
        """Return an object; None if missing."""

    def url(self, key: str, *, file_name: str, media_type: str, seconds: int) -> str:
        """Return a URL by which anybody can read the object for `seconds`."""
