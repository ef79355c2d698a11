"""Ports of sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent
from spinneret.sources.models import Run, RunPage, Source, SourceRef


class SourceStore(Protocol):
    """Sources with their runs. All methods raise DependencyUnavailable.

    A source's config and collection can't be removed while it refers to them.
    """

    def add(self, source: Source) -> None:
        """Store a new source. Raises NotFound for a config or a collection that doesn't exist."""

    def get(self, tenant: str, source_id: str) -> Source | None:
        """Return the source (consistent read), or None."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        """Return up to `limit` sources with ids before `after`, newest first."""

    def replace(
        self,
        former: Source,
        source: Source,
        run: Run | None = None,
        event: DomainEvent | None = None,
    ) -> bool:
        """Replace `former` by `source`, with a run and an event; return False if it changed
        meanwhile.

        Raises NotFound for a config or a collection that doesn't exist.
        """

    def remove(self, source: Source) -> bool:
        """Remove the source; return False if it changed meanwhile."""

    def due(self, until: datetime, limit: int) -> list[SourceRef]:
        """Return up to `limit` due sources of each shard; eventually consistent."""

    def run(self, tenant: str, source_id: str, run_id: str) -> Run | None:
        """Return one run, or None."""

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        """Return up to `limit` runs with ids before `after`, newest first."""

    def keep_pages(self, run: Run, pages: Sequence[RunPage], now: datetime) -> None:
        """Store the pages of a run; a repeated call changes nothing."""

    def pages(self, tenant: str, run_id: str) -> tuple[RunPage, ...]:
        """Return all pages of a run, at most SOURCE_PAGES_MAX."""


@dataclass(frozen=True, kw_only=True)
class StartedCrawls:
    """The crawls of a run."""

    batch_id: str | None
    """Id of the batch; None if every page was refused."""
    refused: Mapping[str, str]
    """URL → code."""


class Crawls(Protocol):
    """Crawls of a run's pages. All methods raise DependencyUnavailable."""

    def begin_deep(self, source: Source, run: Run) -> str | None:
        """Crawl the website from the source's URL; repeated calls for a run return the same job.

        Return None if the source's config has no depth. Raises NotFound, FeatureDisabled, and the
        errors for a refused URL.
        """

    def ended_deep(self, tenant: str, job_id: str) -> Sequence[RunPage] | None:
        """Return the outcomes of the pages that were reached; None until the deep crawl has ended.

        Raises PagesFailed for a deep crawl that was cancelled or expired.
        """

    def begin(self, source: Source, run: Run, urls: Sequence[str]) -> StartedCrawls:
        """Crawl the pages as parts of one job; repeated calls for a run return the same.

        Raises NotFound and ValidationFailed.
        """

    def ended(self, tenant: str, batch_id: str) -> Sequence[RunPage] | None:
        """Return the outcomes of the pages; None until all crawls have ended."""


@dataclass(frozen=True, kw_only=True)
class DiscoveryProgress:
    """Progress and result of a discovery."""

    urls: tuple[str, ...]
    error: str | None
    """Reason why it failed."""


class Discoveries(Protocol):
    """Discovery of a pattern's pages. All methods raise DependencyUnavailable."""

    def begin(self, source: Source, run: Run) -> str:
        """Return the job that discovers the pages; repeated calls for a run return the same.

        Raises FeatureDisabled, and the errors for a refused site.
        """

    def ended(self, tenant: str, job_id: str) -> DiscoveryProgress | None:
        """Return the result; None while the discovery isn't finished."""


class SourceWebhooks(Protocol):
    """Webhooks of sources. All methods raise DependencyUnavailable."""

    def source_targets(self, tenant: str, source_id: str) -> tuple[str, ...]:
        """Return the active webhooks of a source, which are notified of its runs."""

    def remove_of_source(self, tenant: str, source_id: str) -> None:
        """Remove the webhooks of a source."""
