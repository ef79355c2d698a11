"""A tenant's sources: the use cases behind the routes."""

from dataclasses import dataclass, replace

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.schedules.cron import parse_schedule
from spinneret.sources import limits, rules
from spinneret.sources.models import Run, RunPage, Source, Trigger
from spinneret.sources.ports import SourceStore, SourceWebhooks
from spinneret.sources.running import SourceRuns
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import check_url_at_submission, require_reachable


@dataclass(frozen=True, kw_only=True)
class SourceDraft:
    """A source as requested."""

    name: str
    url_pattern: str
    crawl_config_id: str | None
    collection_id: str | None
    schedule_cron: str | None
    timezone: str
    is_active: bool


@service
class SourceService:
    """Operations on sources. Unknown ids and ids of other tenants raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: SourceStore
    source_runs: SourceRuns
    policy: AddressPolicy
    webhooks: SourceWebhooks
    clock: Clock
    new_id: NewId

    def create(self, tenant: str, draft: SourceDraft) -> Source:
        """Create a source. Raises UrlInvalid, UrlBlocked, ValidationFailed (pattern, schedule),
        NotFound for a config or a collection that doesn't exist, and Conflict if the tenant has too
        many.
        """
        self._check(draft)
        present = self.store.page(tenant, None, limits.SOURCES_PER_TENANT)
        if len(present.items) >= limits.SOURCES_PER_TENANT:
            raise Conflict(f"a tenant has at most {limits.SOURCES_PER_TENANT} sources")
        now = self.clock()
        source = Source(
            tenant=tenant,
            id=self.new_id("source"),
            **vars(draft),
            created_at=now,
            updated_at=now,
            scheduled_from=now,
            due_at=None,
        )
        source = rules.scheduled(source, now)
        self.store.add(source)
        return source

    def get(self, tenant: str, source_id: str) -> Source:
        """Return the source. Raises NotFound."""
        return existing(self.store.get(tenant, source_id), "source")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Source]:
        """See SourceStore.page."""
        return self.store.page(tenant, after, limit)

    def update(self, tenant: str, source_id: str, draft: SourceDraft) -> Source:
        """Replace a source; a current run continues. Raises NotFound and the errors of `create`.

        A changed schedule applies from now on.
        """
        self._check(draft)

        def updated() -> Source | None:
            former, now = self.get(tenant, source_id), self.clock()
            source = replace(former, **vars(draft), updated_at=now, version=former.version + 1)
            clock = (source.schedule_cron, source.timezone, source.is_active)
            if clock != (former.schedule_cron, former.timezone, former.is_active):
                source = replace(source, scheduled_from=now)
            source = rules.scheduled(source, now)
            return source if self.store.replace(former, source) else None

        return until_written(updated, changing("the source"))

    def remove(self, tenant: str, source_id: str) -> None:
        """Remove a source and its webhooks; crawls in progress are completed.

        Raises NotFound.
        """

        def removed() -> bool:
            source = self.get(tenant, source_id)
            self.webhooks.remove_of_source(tenant, source_id)
            return self.store.remove(source)

        until_written(removed, changing("the source"))

    def trigger(self, tenant: str, source_id: str) -> tuple[Run, bool]:
        """Start a run and return it with True; return a current run with False. Raises NotFound."""

        def current_or_begun() -> tuple[Run, bool] | None:
            source = self.get(tenant, source_id)
            if source.run_id is not None:
                run, is_new = self.store.run(tenant, source_id, source.run_id), False
            else:
                run, is_new = self.source_runs.begin(source, Trigger.REQUEST), True
            return None if run is None else (run, is_new)

        return until_written(current_or_begun, changing("the source"))

    def runs(self, tenant: str, source_id: str, after: str | None, limit: int) -> Page[Run]:
        """Return the runs of a source, after advancing the current one. Raises NotFound."""
        source = self.get(tenant, source_id)
        if source.run_id is not None and after is None:
            self.source_runs.look(source)
        return self.store.runs(tenant, source_id, after, limit)

    def run(self, tenant: str, source_id: str, run_id: str) -> tuple[Run, tuple[RunPage, ...]]:
        """Return one run and its pages, which exist once it has ended. Raises NotFound."""
        source = self.get(tenant, source_id)
        if source.run_id == run_id:
            self.source_runs.look(source)
        run = existing(self.store.run(tenant, source_id, run_id), "run")
        return run, self.store.pages(tenant, run_id)

    def _check(self, draft: SourceDraft) -> None:
        if "*" in draft.url_pattern:
            root, _ = rules.root_and_path(draft.url_pattern)
            require_reachable(root, self.policy, "url_pattern")
        else:
            check_url_at_submission(draft.url_pattern, self.policy, "url_pattern")
        if draft.schedule_cron is not None:
            parse_schedule(draft.schedule_cron, draft.timezone)
        else:
            parse_schedule("@daily", draft.timezone)
