"""A tenant's status page and its public content."""

from dataclasses import replace

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, NotFound
from spinneret.kernel.service import service
from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import DayTally, Window
from spinneret.monitoring.rollups.ports import RollupStore
from spinneret.monitoring.status_page import limits, rules
from spinneret.monitoring.status_page.models import (
    StatusPage,
    StatusPageContent,
    StatusPageRow,
    is_slug,
)
from spinneret.monitoring.status_page.ports import StatusPageStore
from spinneret.monitoring.status_page.prometheus import KeptMetrics, metrics_text
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.ports import TargetStore
from spinneret.monitoring.windows.service import Maintenance


@service
class StatusPages:
    """Manages and reads status pages. All methods raise DependencyUnavailable."""

    pages: StatusPageStore
    targets: TargetStore
    figures: RollupStore
    maintenance: Maintenance
    clock: Clock
    kept_metrics: KeptMetrics

    def get(self, tenant: str) -> StatusPage:
        """Return the tenant's page. Raises NotFound."""
        page = self.pages.get(tenant)
        if page is None:
            raise NotFound("no status page")
        return page

    def put(self, tenant: str, slug: str, title: str) -> StatusPage:
        """Publish or change a page.

        Raises Conflict if another tenant has the slug, and Contended.
        """
        former = self.pages.get(tenant)
        page = StatusPage(tenant=tenant, slug=slug, title=title, updated_at=self.clock())
        if former is not None:
            page = replace(page, version=former.version + 1)
        if not self.pages.put(page, former):
            raise _changing()
        return page

    def remove(self, tenant: str) -> None:
        """Remove the tenant's page. Raises NotFound and Contended."""
        if not self.pages.remove(self.get(tenant)):
            raise _changing()

    def shown(self, slug: str) -> StatusPageContent:
        """Return the content of a slug's page.

        It has at most STATUS_PAGE_TARGETS lines, targets in trouble first, and the status of up to
        STATUS_PAGE_COUNTED targets. Raises NotFound.
        """
        page, most = self._at(slug), limits.STATUS_PAGE_COUNTED
        ids = self.targets.public(page.tenant, most + 1)
        found = self.targets.get_many(page.tenant, ids[:most])
        own, others = rules.chosen([each for each in found if each.target.options.public])
        return StatusPageContent(
            page=page,
            lines=[self._line(each) for each in own],
            others=[self._other(each) for each in others],
            is_all=len(ids) <= most,
            now=self.clock(),
        )

    def line(self, slug: str, target_id: str) -> StatusPageRow:
        """Return one target of a page. Raises NotFound."""
        page = self._at(slug)
        watched = self.targets.get(page.tenant, target_id)
        if watched is None or not watched.target.options.public:
            raise NotFound("no such target on this page")
        return self._line(watched)

    def metrics(self, tenant: str) -> str:
        """Render a tenant's targets for Prometheus; kept for METRICS_KEPT_SECONDS."""
        now = self.clock()
        text = self.kept_metrics.find(tenant, now)
        if text is None:
            text = metrics_text(self.targets.all(tenant, limits.METRICS_TARGETS), now)
            self.kept_metrics.keep(tenant, text, now)
        return text

    def _at(self, slug: str) -> StatusPage:
        page = self.pages.at(slug) if is_slug(slug) else None
        if page is None:
            raise NotFound("no such status page")
        return page

    def _other(self, watched: TargetWithState) -> StatusPageRow:
        is_kept = rules.is_troubled(watched) and self._maintained(watched)
        return StatusPageRow(watched=watched, in_maintenance=is_kept, days=())

    def _maintained(self, watched: TargetWithState) -> bool:
        return self.maintenance.covers(watched.target.tenant, watched.target.id, self.clock())

    def _line(self, watched: TargetWithState) -> StatusPageRow:
        target, now = watched.target, self.clock()
        since = rollups.begin_of(Window.MONTH, now)
        days = list(self.figures.days(target.tenant, target.id, since))
        hour = watched.state.hour
        if hour is not None and hour.hour >= since:
            today = DayTally(rollups.day_of(hour.hour), hour.tally)
            if days and days[-1].day == today.day:
                today = DayTally(today.day, days.pop().tally + today.tally)
            days.append(today)
        return StatusPageRow(watched=watched, in_maintenance=self._maintained(watched), days=days)


def _changing() -> Contended:
    return Contended("the status page is being changed by others")
