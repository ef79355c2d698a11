"""What sources need from outside."""

from __future__ import annotations

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
        """Store a new one; raises NotFound for a config or a collection that doesn't exist."""
        ...

    def get(self, tenant: str, source_id: str) -> Source | None:
        """The source, read consistently."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        """Up to `limit` sources with ids before `after`, newest first."""
        ...

    def replace(
        self,
        former: Source,
        source: Source,
        run: Run | None = None,
        event: DomainEvent | None = None,
    ) -> bool:
        """Write `source` over `former`, with a run of it and what is to be reported; False when
        that isn't what stands.

        Raises NotFound for a config or a collection that doesn't exist.
        """
        ...

    def remove(self, source: Source) -> bool:
        """Remove it; False when it isn't what stands any more."""
        ...

    def due(self, until: datetime, limit: int) -> list[SourceRef]:
        """Sources to be looked at by then, those of other shards in turn; eventually consistent."""
        ...

    def run(self, tenant: str, source_id: str, run_id: str) -> Run | None:
        """One run."""
        ...

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        """Up to `limit` runs with ids before `after`, newest first."""
        ...

    def keep_pages(self, run: Run, pages: Sequence[RunPage], now: datetime) -> None:
        """Store the pages of a run; repeating it changes nothing."""
        ...

    def pages(self, tenant: str, run_id: str) -> tuple[RunPage, ...]:
        """All pages of a run, at most SOURCE_PAGES_MAX."""
        ...


@dataclass(frozen=True, kw_only=True)
class StartedCrawls:
    """The crawls of a run."""

    batch_id: str | None
    """None where every page was refused."""
    refused: Mapping[str, str]
    """URL → code."""


class Crawls(Protocol):
    """Crawling the pages of a run. All methods raise DependencyUnavailable."""

    def begin(self, source: Source, run: Run, urls: Sequence[str]) -> StartedCrawls:
        """Crawl the pages as parts of one job; for the same run this answers the same.

        Raises NotFound and ValidationFailed.
        """
        ...

    def ended(self, tenant: str, batch_id: str) -> Sequence[RunPage] | None:
        """What became of the pages; None while any of them is crawled."""
        ...


@dataclass(frozen=True, kw_only=True)
class DiscoveryProgress:
    """What a discovery has come to."""

    urls: tuple[str, ...]
    error: str | None
    """Why it failed."""


class Discoveries(Protocol):
    """Finding the pages of a pattern. All methods raise DependencyUnavailable."""

    def begin(self, source: Source, run: Run) -> str:
        """The job that looks for them; for the same run this answers the same.

        Raises FeatureDisabled and what refuses a site.
        """
        ...

    def ended(self, tenant: str, job_id: str) -> DiscoveryProgress | None:
        """What was found; None while it is looked for."""
        ...
