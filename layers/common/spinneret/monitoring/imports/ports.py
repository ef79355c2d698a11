"""Ports of imports."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from spinneret.jobs.models import JobRef, Lease
from spinneret.monitoring.targets.models import TargetWithState


class SliceResult(StrEnum):
    """Result of writing a slice of an import."""

    WRITTEN = "written"
    URL_TAKEN = "url taken"
    """Another process created a target of one of the URLs; the write was refused."""
    TOO_MANY = "too many"
    """The tenant would exceed its maximum number of targets; the write was refused."""


class ImportStore(Protocol):
    """Progress of imports. All methods raise DependencyUnavailable.

    The number of stored outcomes is the cursor. They are kept as long as a job.
    """

    def outcomes(self, ref: JobRef) -> list[Mapping[str, Any]]:
        """Return the outcomes of the lines that are done, in order (consistent read)."""

    def known(self, tenant: str, urls: Sequence[str]) -> Mapping[str, str]:
        """Return canonical URL → target id, for URLs with a target (consistent read)."""

    def write(
        self,
        lease: Lease,
        first: int,
        outcomes: Sequence[Mapping[str, Any]],
        targets: Sequence[TargetWithState],
        most: int,
        now: datetime,
    ) -> SliceResult:
        """Store the outcomes from position `first` on, and the targets that they name as created.

        One atomic write of at most IMPORT_SLICE_LINES lines. Raises LeaseLost.
        """

    def listing(self, ref: JobRef) -> str | None:
        """Return the stored state of reading a sitemap; None if there is none."""

    def keep_listing(self, lease: Lease, listing: str, now: datetime) -> None:
        """Store or replace the state of reading a sitemap. Raises LeaseLost."""
