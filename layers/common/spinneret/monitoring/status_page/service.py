"""A tenant's status page and its public content."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, NotFound, existing
from spinneret.kernel.paging import items_of
from spinneret.kernel.races import changing
from spinneret.kernel.recent import Recent
from spinneret.kernel.rows import RowStore
from spinneret.kernel.service import service
from spinneret.monitoring.notices import limits as notice_limits
from spinneret.monitoring.notices.models import Notice
from spinneret.monitoring.rollups import rules as rollups
from spinneret.monitoring.rollups.models import Window
from spinneret.monitoring.rollups.ports import RollupStore
from spinneret.monitoring.status_page import limits, rules
from spinneret.monitoring.status_page.models import (
    StatusGroup,
    StatusPage,
    StatusPageContent,
    StatusPageRow,
    is_slug,
)
from spinneret.monitoring.status_page.ports import StatusPageStore
from spinneret.monitoring.status_page.prometheus import metrics_text
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.ports import TargetStore
from spinneret.monitoring.targets.references import require_targets
from spinneret.monitoring.windows.service import Maintenance

Groups = Sequence[StatusGroup]


@service
class StatusPages:
    """Manages and reads status pages. All methods raise DependencyUnavailable."""

    pages: StatusPageStore
    targets: TargetStore
    figures: RollupStore
    notices: RowStore[Notice]
    maintenance: Maintenance
    clock: Clock

    def __post_init__(self) -> None:
        self._metrics = Recent[str, str](limits.METRICS_KEPT_SECONDS, limits.METRICS_KEPT)

    def get(self, tenant: str) -> StatusPage:
        """Return the tenant's main page. Raises NotFound."""
        page = self.pages.get(tenant)
        if page is None:
            raise NotFound("no status page")
        return page

    def put(self, tenant: str, slug: str, title: str, groups: Groups = ()) -> StatusPage:
        """Publish or change the main page.

        Raises ValidationFailed, Contended, and Conflict as `add` does.
        """
        former = self.pages.get(tenant)
        if former is None:
            return self._create(tenant, slug, title, groups, is_main=True)
        return self._put(tenant, slug, title, groups, former, is_main=True)

    def remove(self, tenant: str) -> None:
        """Remove the tenant's main page. Raises NotFound and Contended."""
        self._remove(self.get(tenant))

    def page_at(self, tenant: str, slug: str) -> StatusPage:
        """Return one of the tenant's pages. Raises NotFound."""
        page = self._at(slug)
        if page.tenant != tenant:
            raise NotFound("no such status page")
        return page

    def add(self, tenant: str, slug: str, title: str, groups: Groups = ()) -> StatusPage:
        """Publish a further page.

        Raises ValidationFailed for an unknown target, Contended, and Conflict if a page has the
        slug, or the tenant has STATUS_PAGES_MAX.
        """
        return self._create(tenant, slug, title, groups, is_main=False)

    def change(self, tenant: str, slug: str, title: str, groups: Groups = ()) -> StatusPage:
        """Change title and groups of one of the tenant's pages.

        Raises NotFound, Contended, and ValidationFailed for an unknown target that is new on the
        page.
        """
        former = self.page_at(tenant, slug)
        return self._put(tenant, slug, title, groups, former, is_main=former.is_main)

    def remove_at(self, tenant: str, slug: str) -> None:
        """Remove one of the tenant's pages. Raises NotFound and Contended."""
        self._remove(self.page_at(tenant, slug))

    def _create(
        self, tenant: str, slug: str, title: str, groups: Groups, *, is_main: bool
    ) -> StatusPage:
        """Publish a new page, and take it back if another one took the last place meanwhile."""
        too_many = Conflict(f"a tenant has at most {limits.STATUS_PAGES_MAX} status pages")
        own = self.pages.all(tenant)
        if len(own) >= limits.STATUS_PAGES_MAX:
            raise too_many
        if any(each.slug == slug for each in own):
            raise Conflict.of_field("slug", "the slug is taken")
        page = self._put(tenant, slug, title, groups, None, is_main=is_main)
        if len(self.pages.all(tenant)) > limits.STATUS_PAGES_MAX:
            self._remove(page)
            raise too_many
        return page

    def _put(
        self,
        tenant: str,
        slug: str,
        title: str,
        groups: Groups,
        former: StatusPage | None,
        *,
        is_main: bool,
    ) -> StatusPage:
        named = {
            f"groups.{number}.target_ids": each.target_ids for number, each in enumerate(groups)
        }
        require_targets(self.targets, tenant, named, former.target_ids if former else ())
        page = StatusPage(
            tenant=tenant,
            slug=slug,
            title=title,
            groups=tuple(groups),
            is_main=is_main,
            updated_at=self.clock(),
            version=1 if former is None else former.version + 1,
        )
        if not self.pages.put(page, former):
            raise changing("the status page", Contended)
        return page

    def _remove(self, page: StatusPage) -> None:
        if not self.pages.remove(page):
            raise changing("the status page", Contended)

    def shown(self, slug: str) -> StatusPageContent:
        """Return the content of a slug's page.

        It has at most STATUS_PAGE_TARGETS lines, targets in trouble first, and the status of up to
        STATUS_PAGE_COUNTED targets. Raises NotFound.
        """
        page, most = self._at(slug), limits.STATUS_PAGE_COUNTED
        ids = page.target_ids or self.targets.public(page.tenant, most + 1)
        found = self.targets.get_many(page.tenant, ids[:most])
        own, others = rules.chosen([each for each in found if each.target.options.public])
        return StatusPageContent(
            page=page,
            lines=[self._line(each, self._first_day()) for each in own],
            others=[self._other(each) for each in others],
            notices=self._notices(page),
            is_all=len(ids) <= most,
            now=self.clock(),
        )

    def feed(self, slug: str) -> tuple[StatusPage, Sequence[Notice]]:
        """Return a page and its notices, active ones first. Raises NotFound."""
        page = self._at(slug)
        return page, self._notices(page)

    def line(self, slug: str, target_id: str) -> StatusPageRow:
        """Return one target of a page. Raises NotFound."""
        page = self._at(slug)
        watched = self.targets.get(page.tenant, target_id)
        is_elsewhere = page.groups and target_id not in page.target_ids
        if watched is None or not watched.target.options.public or is_elsewhere:
            raise NotFound("no such target on this page")
        return self._line(watched, rollups.begin_of(Window.MONTH, self.clock()))

    def metrics(self, tenant: str) -> str:
        """Render a tenant's targets for Prometheus; kept for METRICS_KEPT_SECONDS."""
        now = self.clock()
        return self._metrics.get(
            tenant,
            now,
            lambda: metrics_text(self.targets.all(tenant, limits.METRICS_TARGETS), now),
        )

    def _at(self, slug: str) -> StatusPage:
        page = self.pages.at(slug) if is_slug(slug) else None
        return existing(page, "status page")

    def _other(self, watched: TargetWithState) -> StatusPageRow:
        is_kept = rules.is_troubled(watched) and self._maintained(watched)
        return StatusPageRow(watched=watched, in_maintenance=is_kept, days=())

    def _maintained(self, watched: TargetWithState) -> bool:
        return self.maintenance.covers(watched.target.tenant, watched.target.id, self.clock())

    def _first_day(self) -> datetime:
        return rollups.first_of(limits.STATUS_PAGE_DAYS, self.clock())

    def _notices(self, page: StatusPage) -> list[Notice]:
        """Return up to NOTICES_SHOWN of the last NOTICES_READ notices, active ones first."""
        most, since = notice_limits.NOTICES_SHOWN, self._first_day()
        found = items_of(lambda after: self.notices.page(page.tenant, after, most))
        shown = [
            each
            for each in islice(found, notice_limits.NOTICES_READ)
            if each.is_on(page.slug) and (not each.is_over or each.updated_at >= since)
        ]
        return sorted(shown, key=lambda each: each.is_over)[:most]

    def _line(self, watched: TargetWithState, since: datetime) -> StatusPageRow:
        target = watched.target
        found = self.figures.days(target.tenant, target.id, since)
        days = rollups.with_hour(found, watched.state.hour, since)
        return StatusPageRow(watched=watched, in_maintenance=self._maintained(watched), days=days)
