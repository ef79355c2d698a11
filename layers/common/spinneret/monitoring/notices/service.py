"""A tenant's notices: the use cases behind the routes."""

from dataclasses import dataclass, replace
from datetime import datetime

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, ValidationFailed, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.rows import RowStore
from spinneret.kernel.service import service
from spinneret.monitoring.notices import limits
from spinneret.monitoring.notices.models import (
    STATUSES,
    Notice,
    NoticeKind,
    NoticeStatus,
    NoticeUpdate,
)
from spinneret.monitoring.status_page.ports import StatusPageStore


@dataclass(frozen=True, kw_only=True)
class NoticeDraft:
    """A notice to post."""

    kind: NoticeKind
    title: str
    text: str
    status: NoticeStatus | None = None
    """None for the first status of the kind."""
    slugs: tuple[str, ...] = ()
    starts_at: datetime | None = None
    ends_at: datetime | None = None


@service
class NoticeService:
    """Manages notices. Unknown ids and ids of other tenants raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: RowStore[Notice]
    pages: StatusPageStore
    clock: Clock
    new_id: NewId

    def post(self, tenant: str, draft: NoticeDraft) -> Notice:
        """Post a notice with its first update.

        Raises ValidationFailed, also for a slug that isn't a page of the tenant: nobody would see
        the notice.
        """
        _require_times(draft)
        self._require_pages(tenant, draft.slugs)
        status = draft.status or STATUSES[draft.kind][0]
        notice = Notice(
            tenant=tenant,
            id=self.new_id("nt"),
            kind=draft.kind,
            title=draft.title,
            slugs=draft.slugs,
            starts_at=draft.starts_at,
            ends_at=draft.ends_at,
            updates=(self._update(draft.kind, status, draft.text),),
        )
        self.store.add(notice)
        return notice

    def get(self, tenant: str, notice_id: str) -> Notice:
        """Return the notice. Raises NotFound."""
        return existing(self.store.get(tenant, notice_id), "notice")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Notice]:
        """See RowStore.page."""
        return self.store.page(tenant, after, limit)

    def update(self, tenant: str, notice_id: str, status: NoticeStatus, text: str) -> Notice:
        """Add an update.

        Raises NotFound, ValidationFailed, Contended, and Conflict after NOTICE_UPDATES_MAX.
        """

        def updated() -> Notice | None:
            former = self.get(tenant, notice_id)
            if len(former.updates) >= limits.NOTICE_UPDATES_MAX:
                raise Conflict(f"a notice has at most {limits.NOTICE_UPDATES_MAX} updates")
            updates = (*former.updates, self._update(former.kind, status, text))
            notice = replace(former, updates=updates, version=former.version + 1)
            return notice if self.store.replace(former, notice) else None

        return until_written(updated, changing("the notice", Contended))

    def remove(self, tenant: str, notice_id: str) -> None:
        """Remove the notice. Raises NotFound and Contended."""
        if not self.store.remove(self.get(tenant, notice_id)):
            raise changing("the notice", Contended)

    def _require_pages(self, tenant: str, slugs: tuple[str, ...]) -> None:
        own = [page.slug for page in self.pages.all(tenant)] if slugs else []
        for number, slug in enumerate(slugs):
            if slug not in own:
                hint = f"pages are {', '.join(own)}" if own else "publish a status page first"
                raise ValidationFailed.of_field(f"slugs.{number}", "no such status page", hint)

    def _update(self, kind: NoticeKind, status: NoticeStatus, text: str) -> NoticeUpdate:
        if status not in STATUSES[kind]:
            message = f"must be one of {', '.join(STATUSES[kind])} for {kind}"
            raise ValidationFailed.about("status", message)
        return NoticeUpdate(at=self.clock(), status=status, text=text)


def _require_times(draft: NoticeDraft) -> None:
    is_planned = draft.kind is NoticeKind.MAINTENANCE
    for name, moment in (("starts_at", draft.starts_at), ("ends_at", draft.ends_at)):
        if (moment is not None) != is_planned:
            message = "is required for maintenance" if is_planned else "is only for maintenance"
            raise ValidationFailed.about(name, message)
    if draft.starts_at and draft.ends_at and draft.ends_at <= draft.starts_at:
        raise ValidationFailed.about("ends_at", "must be after starts_at")
