"""Sources over fakes: their store, their crawls and their discoveries."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from spinneret.kernel.errors import DomainError, NotFound
from spinneret.kernel.paging import Page
from spinneret.outbox.models import DomainEvent
from spinneret.sources import rules
from spinneret.sources.models import Run, RunPage, Source, SourceRef
from spinneret.sources.ports import DiscoveryProgress, StartedCrawls
from spinneret.sources.running import SourceRuns, SourceTickResult
from spinneret.sources.service import SourceService
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.dependency import FakeDependency
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import HandClock


class FakeSourceStore(FakeDependency):
    """Implements SourceStore.

    `configs` and `collections` count the references to their rows; None accepts every reference.
    """

    def __init__(
        self,
        configs: FakeNamedStore[object] | None = None,
        collections: FakeNamedStore[object] | None = None,
    ) -> None:
        self.events: list[DomainEvent] = []
        self._named = {"crawl_config_id": configs, "collection_id": collections}
        self._sources: dict[tuple[str, str], Source] = {}
        self._runs: dict[tuple[str, str, str], Run] = {}
        self._pages: dict[tuple[str, str], tuple[RunPage, ...]] = {}

    def add(self, source: Source) -> None:
        self._require()
        self._refer(None, source)
        self._sources[source.tenant, source.id] = source

    def get(self, tenant: str, source_id: str) -> Source | None:
        self._require()
        return self._sources.get((tenant, source_id))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        self._require()
        mine = [each for each in self._sources.values() if each.tenant == tenant]
        found = sorted(mine, key=lambda each: each.id, reverse=True)
        found = [each for each in found if after is None or each.id < after]
        return Page.cut(found, limit, lambda each: each.id)

    def replace(
        self,
        former: Source,
        source: Source,
        run: Run | None = None,
        event: DomainEvent | None = None,
    ) -> bool:
        if not self._stands(former):
            return False
        self._refer(former, source)
        self._sources[source.tenant, source.id] = source
        if run is not None:
            self._runs[run.tenant, run.source_id, run.id] = run
        if event is not None:
            self.events.append(event)
        return True

    def remove(self, source: Source) -> bool:
        if not self._stands(source):
            return False
        self._refer(source, None)
        del self._sources[source.tenant, source.id]
        return True

    def due(self, until: datetime, limit: int) -> list[SourceRef]:
        self._require()
        found = [each for each in self._sources.values() if each.due_at and each.due_at <= until]
        found.sort(key=lambda each: (each.due_at, each.id))
        return [SourceRef(tenant=each.tenant, source_id=each.id) for each in found[:limit]]

    def run(self, tenant: str, source_id: str, run_id: str) -> Run | None:
        self._require()
        return self._runs.get((tenant, source_id, run_id))

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        self._require()
        mine = [run for key, run in self._runs.items() if key[:2] == (tenant, source_id)]
        found = sorted(mine, key=lambda run: run.id, reverse=True)
        found = [run for run in found if after is None or run.id < after]
        return Page.cut(found, limit, lambda each: each.id)

    def keep_pages(self, run: Run, pages: Sequence[RunPage], now: datetime) -> None:
        self._require()
        self._pages[run.tenant, run.id] = tuple(pages)

    def pages(self, tenant: str, run_id: str) -> tuple[RunPage, ...]:
        self._require()
        return self._pages.get((tenant, run_id), ())

    def _stands(self, source: Source) -> bool:
        standing = self.get(source.tenant, source.id)
        return standing is not None and standing.version == source.version

    def _refer(self, former: Source | None, source: Source | None) -> None:
        for name, rows in self._named.items():
            before, after = getattr(former, name, None), getattr(source, name, None)
            if rows is None or before == after:
                continue
            if source is not None and after is not None:
                if rows.get(source.tenant, after) is None:
                    raise NotFound.of_field(name, f"no such {rules.referred(name)}")
                rows.references[source.tenant, after] += 1
            if former is not None and before is not None:
                rows.references[former.tenant, before] -= 1


class FakeCrawls(FakeDependency):
    """Implements Crawls; a test sets the results of each batch."""

    def __init__(self) -> None:
        self.error: DomainError | None = None
        self.refused: Mapping[str, str] = {}
        self.begun: dict[str, tuple[str, ...]] = {}
        """Crawled pages by run."""
        self.results: dict[str, Sequence[RunPage]] = {}
        """Results of the pages by run."""

    def begin_deep(self, source: Source, run: Run) -> str | None:
        self._require()
        return None

    def ended_deep(self, tenant: str, job_id: str) -> Sequence[RunPage] | None:
        raise AssertionError("there are no deep crawls here")

    def begin(self, source: Source, run: Run, urls: Sequence[str]) -> StartedCrawls:
        self._require()
        if self.error is not None:
            raise self.error
        crawled = tuple(url for url in urls if url not in self.refused)
        self.begun.setdefault(run.id, crawled)
        return StartedCrawls(
            batch_id=f"batch of {run.id}" if crawled else None,
            refused={url: code for url, code in self.refused.items() if url in urls},
        )

    def ended(self, tenant: str, batch_id: str) -> Sequence[RunPage] | None:
        self._require()
        return self.results.get(batch_id.removeprefix("batch of "))


class FakeDiscoveries:
    """Implements Discoveries."""

    def __init__(self) -> None:
        self.error: DomainError | None = None
        self.begun: list[str] = []
        """Ids of the runs that began a discovery, once for each call."""
        self.found: dict[str, DiscoveryProgress] = {}
        """Results of discoveries by run."""

    def begin(self, source: Source, run: Run) -> str:
        if self.error is not None:
            raise self.error
        self.begun.append(run.id)
        return f"discovery of {run.id}"

    def ended(self, tenant: str, job_id: str) -> DiscoveryProgress | None:
        return self.found.get(job_id.removeprefix("discovery of "))


class FakeSourceWebhooks:
    """Implements SourceWebhooks with one webhook for each source."""

    def __init__(self) -> None:
        self.removed: list[str] = []
        """Sources whose webhooks were removed."""

    def source_targets(self, tenant: str, source_id: str) -> tuple[str, ...]:
        return (f"webhook of {source_id}",)

    def remove_of_source(self, tenant: str, source_id: str) -> None:
        self.removed.append(source_id)


class SourceWorld:
    """The services of sources over fakes, which are the attributes."""

    def __init__(self) -> None:
        self.clock = HandClock()
        self.store = FakeSourceStore()
        self.crawls = FakeCrawls()
        self.discoveries = FakeDiscoveries()
        self.webhooks = FakeSourceWebhooks()
        self.handed_on: list[str] = []
        numbers = itertools.count(1)
        self.runs = SourceRuns(
            store=self.store,
            crawls=self.crawls,
            discoveries=self.discoveries,
            webhooks=self.webhooks,
            relay_events=lambda _tenant, subject: self.handed_on.append(subject),
            clock=self.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        )
        self.service = SourceService(
            store=self.store,
            source_runs=self.runs,
            policy=AddressPolicy(),
            webhooks=self.webhooks,
            clock=self.clock,
            new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
        )

    def tick(self, seconds: float = 60) -> SourceTickResult:
        """Advance the clock by `seconds`, and make one tick of the rule."""
        self.clock.advance(seconds)
        return self.runs.tick(lambda: True)

    def source(self, source_id: str) -> Source:
        return self.service.get("acme", source_id)

    def run(self, source_id: str) -> Run:
        """Return the newest run."""
        return self.store.runs("acme", source_id, None, 1).items[0]

    def end(self, run: Run, *pages: RunPage) -> None:
        """End the crawls of a run with these results."""
        self.crawls.results[run.id] = [replace(page) for page in pages]
