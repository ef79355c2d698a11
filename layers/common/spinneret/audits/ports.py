"""What audits need from outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Protocol

from spinneret.audits.facts.site import Outcome
from spinneret.audits.models import Artifact, Finished, Progress, RunRef
from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page


class AuditStore(Protocol):
    """Rows of audits. Raises DependencyUnavailable; every write raises LeaseLost for a claim that
    has ended, and may be repeated."""

    def progress(self, ref: RunRef) -> Progress | None:
        """How far a run is; None for one that has just begun."""
        ...

    def keep_progress(self, progress: Progress, lease: Lease) -> None:
        """Replace what is known of a run."""
        ...

    def keep_page(self, ref: RunRef, place: str, facts: bytes, lease: Lease) -> None:
        """Keep the compressed facts of a page under its place in the crawl."""
        ...

    def pages(self, ref: RunRef) -> Iterator[bytes]:
        """The facts of all pages, in the order of their places."""
        ...

    def keep_outcomes(
        self, ref: RunRef, number: int, outcomes: Mapping[str, Outcome], lease: Lease
    ) -> None:
        """Keep what some URLs answered; `number` names the write, another of it replaces it."""
        ...

    def outcomes(self, ref: RunRef) -> tuple[dict[str, Outcome], int]:
        """All of them, and the number of the next write."""
        ...

    def keep_artifacts(self, artifacts: Sequence[Artifact], lease: Lease) -> None:
        """Write the rows of objects that are about to be written; at most ten."""
        ...

    def artifacts(
        self, tenant: str, audit_id: str, after: str | None, limit: int
    ) -> Page[Artifact]:
        """The artifacts of an audit, of all its runs."""
        ...

    def finish(self, progress: Progress, finished: Finished, lease: Lease) -> None:
        """Write a run's result and its place among the audits of its site, at once."""
        ...

    def finished(self, ref: RunRef) -> Finished | None:
        """A run's result, if it has one."""
        ...

    def finished_before(self, tenant: str, site_key: str, place: str) -> Finished | None:
        """The last audit of the site whose place is before this one."""
        ...


class AuditObjectStore(Protocol):
    """The objects of audits. Raises DependencyUnavailable."""

    def put(self, key: str, body: bytes | IO[bytes], media_type: str) -> None:
        """Write an object; one that is there is replaced."""
        ...

    def get(self, key: str) -> bytes | None:
        """An object; None where there is none."""
        ...

    def url(self, key: str, *, file_name: str, media_type: str, seconds: int) -> str:
        """A URL by which anybody may read the object for so long."""
        ...
