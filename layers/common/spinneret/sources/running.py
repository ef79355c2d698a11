"""Runs of sources; every process that reads a run may advance it from stage to stage.

Every stage is stored before the next one starts, on condition that the source is unchanged.
Requests to other services have the run's id in their key, so that repeating them has no effect.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable, DomainError
from spinneret.kernel.ids import NewId
from spinneret.kernel.passes import FAILED, act_on_each
from spinneret.kernel.service import service
from spinneret.outbox.ports import RelayEvents
from spinneret.sources import limits, rules
from spinneret.sources.models import FINAL, Run, RunPage, RunStage, Source, SourceRef, Trigger
from spinneret.sources.ports import Crawls, Discoveries, SourceStore, SourceWebhooks

logger = logging.getLogger(__name__)

_STEPS: Final = 4  # steps of one call: a run has no further stages


@dataclass(frozen=True, kw_only=True)
class SourceTickResult:
    """Result of one pass."""

    looked_at: int
    failed: int
    """Sources that failed; the next pass retries them."""


@service
class SourceRuns:
    """Start and advance runs."""

    store: SourceStore
    crawls: Crawls
    discoveries: Discoveries
    webhooks: SourceWebhooks
    relay_events: RelayEvents
    clock: Clock
    new_id: NewId

    def tick(self, may_go_on: Callable[[], bool]) -> SourceTickResult:
        """Process all due sources; the next pass retries a failed one."""

        def look(ref: SourceRef) -> str:
            source = self.store.get(ref.tenant, ref.source_id)
            if source is not None:
                self.look(source)
            return "looked at"

        due = self.store.due(self.clock(), limits.SOURCES_PER_TICK)
        results = act_on_each(due, look, lambda ref: ref.source_id, may_go_on)
        return SourceTickResult(looked_at=results.total(), failed=results[FAILED])

    def look(self, source: Source) -> None:
        """Start the run that is due, or advance the current one as far as possible.

        If another process changes the source meanwhile, that process continues.
        """
        now = self.clock()
        if source.run_id is None:
            if rules.is_due(source, now):
                self.begin(source, Trigger.SCHEDULE)
            else:
                self.store.replace(source, _next(rules.scheduled(source, now)))
            return
        run = self.store.run(source.tenant, source.id, source.run_id)
        if run is not None:
            self._go_on(source, run)

    def begin(self, source: Source, trigger: Trigger) -> Run | None:
        """Start a run and advance it as far as possible; return None if the source changed
        meanwhile.
        """
        now = self.clock()
        run = Run(
            tenant=source.tenant,
            source_id=source.id,
            id=self.new_id("run"),
            trigger=trigger,
            stage=RunStage.STARTING,
            started_at=now,
        )
        begun = _next(replace(source, run_id=run.id, scheduled_from=now))
        begun = rules.scheduled(begun, now)
        if not self.store.replace(source, begun, run):
            return None
        try:
            return self._go_on(begun, run)
        except DependencyUnavailable as error:  # the next pass continues
            logger.warning("source_left", extra={"source_id": source.id, "reason": error.message})
            return run

    def _go_on(self, source: Source, run: Run) -> Run:
        for _ in range(_STEPS):
            try:
                after, pages = self._step(source, run)
            except DependencyUnavailable:
                raise
            except DomainError as error:
                after, pages = self._failed(run, error.code), None
            stored = self._stored(source, run, after, pages)
            if stored is None or after == run or after.stage in FINAL:
                return after
            source, run = stored, after
        return run

    def _stored(
        self, source: Source, run: Run, after: Run, pages: Sequence[RunPage] | None
    ) -> Source | None:
        """Return the source after the change; None if another process changed it."""
        now = self.clock()
        if after.stage not in FINAL:
            changed = _next(rules.scheduled(source, now))
            kept = self.store.replace(source, changed, None if after == run else after)
            return changed if kept else None
        changed = replace(source, run_id=None)
        if pages is not None:
            self.store.keep_pages(after, pages, now)
            changed = replace(changed, last_run_id=after.id, last_crawled_at=now)
        changed = _next(rules.scheduled(changed, now))
        event = rules.event_of(
            changed, after, self.webhooks.source_targets(source.tenant, source.id)
        )
        if not self.store.replace(source, changed, after, event):
            return None
        self.relay_events(source.tenant, source.id)
        return changed

    def _step(self, source: Source, run: Run) -> tuple[Run, Sequence[RunPage] | None]:
        """Return the run after one step, and its pages at its end."""
        match run.stage:
            case RunStage.STARTING if source.is_pattern:
                job_id = self.discoveries.begin(source, run)
                return replace(run, stage=RunStage.DISCOVERING, discovery_job_id=job_id), None
            case RunStage.STARTING:
                deep = self.crawls.begin_deep(source, run)
                if deep is None:
                    return self._crawling(source, run, [source.url_pattern])
                return replace(run, stage=RunStage.CRAWLING, deep_crawl_id=deep), None
            case RunStage.DISCOVERING:
                return self._discovered(source, run)
            case RunStage.CRAWLING:
                return self._ended(source, run)
            case _:
                return run, None

    def _ended(self, source: Source, run: Run) -> tuple[Run, Sequence[RunPage] | None]:
        pages: tuple[RunPage, ...] = ()
        if run.deep_crawl_id is not None:
            found = self.crawls.ended_deep(source.tenant, run.deep_crawl_id)
            if found is None:
                return run, None
            known = self._known(source)
            pages = rules.reached(found, known, source.url_pattern)
            left = rules.not_reached(pages, known)
            if left and run.batch_id is None and not run.refused:
                return self._crawling(source, run, left, pages)
        if run.batch_id is not None:
            crawled = self.crawls.ended(source.tenant, run.batch_id)
            if crawled is None:
                return run, None
            pages += tuple(crawled)
        return self._crawled(source, run, pages)

    def _discovered(self, source: Source, run: Run) -> tuple[Run, Sequence[RunPage] | None]:
        assert run.discovery_job_id is not None  # it is discovering
        found = self.discoveries.ended(source.tenant, run.discovery_job_id)
        if found is None:
            return run, None
        if found.error is not None:
            return self._failed(run, found.error), None
        urls = rules.pages_to_crawl(found.urls, self._known(source))
        if urls:
            return self._crawling(source, run, urls)
        return replace(rules.ended(run, [], self.clock()), error="no page was found"), []

    def _crawling(
        self, source: Source, run: Run, urls: Sequence[str], reached: Sequence[RunPage] = ()
    ) -> tuple[Run, Sequence[RunPage] | None]:
        begun = self.crawls.begin(source, run, urls)
        run = replace(run, stage=RunStage.CRAWLING, batch_id=begun.batch_id, refused=begun.refused)
        return (run, None) if begun.batch_id is not None else self._crawled(source, run, reached)

    def _crawled(
        self, source: Source, run: Run, crawled: Sequence[RunPage]
    ) -> tuple[Run, Sequence[RunPage]]:
        known = self._known(source)
        pages = rules.with_documents(rules.with_refused(crawled, run), known)
        if source.last_run_id is not None:
            pages = rules.with_returned(pages, known)
        return rules.ended(run, pages, self.clock()), pages

    def _known(self, source: Source) -> tuple[RunPage, ...]:
        if source.last_run_id is None:
            return ()
        return rules.covered(self.store.pages(source.tenant, source.last_run_id), source)

    def _failed(self, run: Run, error: str) -> Run:
        return replace(run, stage=RunStage.FAILED, finished_at=self.clock(), error=error)


def _next(source: Source) -> Source:
    return replace(source, version=source.version + 1)
