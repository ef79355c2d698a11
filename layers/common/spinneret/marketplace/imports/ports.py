"""Ports of imports."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel.paging import Page
from spinneret.marketplace.imports.models import ImportedListing


class ListingImportStore(Protocol):
    """Listings that a job has read. All methods raise DependencyUnavailable; writes raise LeaseLost
    once the job's claim has ended."""

    def position(self, ref: JobRef) -> str | None:
        """Return the position of the next page; None at the first one."""
        ...

    def keep(
        self, lease: Lease, listings: Sequence[ImportedListing], after: str | None, now: datetime
    ) -> None:
        """Store a page of listings and the position of the next page, in one transaction.

        A page has at most IMPORT_PAGE listings.
        """

    def decide(self, lease: Lease, listing: ImportedListing) -> None:
        """Replace the listing by itself with its outcome."""

    def page(self, ref: JobRef, after: str | None, limit: int) -> Page[ImportedListing]:
        """Return up to `limit` listings with ids after `after`, sorted by id."""
        ...
