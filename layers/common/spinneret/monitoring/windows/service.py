"""A tenant's maintenance windows: the use cases behind the routes, and lookups by checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Conflict, Contended, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing
from spinneret.kernel.recent import Recent
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.targets.ports import TargetStore
from spinneret.monitoring.targets.references import require_targets
from spinneret.monitoring.windows import rules
from spinneret.monitoring.windows.models import MaintenanceWindow
from spinneret.monitoring.windows.ports import WindowStore

_KNOWN_SECONDS: Final = 30.0
_TENANTS: Final = 1000  # maximum number of tenants in a worker's cache


@dataclass(frozen=True, kw_only=True)
class WindowDraft:
    """A window as its owner describes it."""

    name: str
    starts_at: datetime
    duration_minutes: int
    timezone: str
    recurrence: str | None
    target_ids: tuple[str, ...]


@service
class WindowService:
    """Manages windows. Unknown ids and ids of other tenants raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    store: WindowStore
    targets: TargetStore
    clock: Clock
    new_id: NewId

    def create(self, tenant: str, draft: WindowDraft) -> MaintenanceWindow:
        """Create a window.

        Raises ValidationFailed, also for an unknown target, and Conflict if the tenant has
        WINDOWS_MAX.
        """
        if len(self.store.all(tenant)) >= limits.WINDOWS_MAX:
            raise Conflict(f"a tenant has at most {limits.WINDOWS_MAX} maintenance windows")
        now = self.clock()
        window = rules.checked(
            MaintenanceWindow(
                tenant=tenant,
                id=self.new_id("mw"),
                created_at=now,
                updated_at=now,
                **vars(draft),
            )
        )
        require_targets(self.targets, tenant, {"target_ids": window.target_ids})
        self.store.add(window)
        return window

    def get(self, tenant: str, window_id: str) -> MaintenanceWindow:
        """Return the window. Raises NotFound."""
        return existing(self.store.get(tenant, window_id), "maintenance window")

    def page(self, tenant: str, after: str | None, limit: int) -> Page[MaintenanceWindow]:
        """Return up to `limit` windows with ids after `after`, oldest first."""
        found = [each for each in self.store.all(tenant) if after is None or each.id > after]
        return Page.cut(found, limit, lambda each: each.id)

    def update(self, tenant: str, window_id: str, draft: WindowDraft) -> MaintenanceWindow:
        """Replace the window.

        Raises NotFound, ValidationFailed, also for an unknown target that is new in the window,
        and Contended.
        """
        former = self.get(tenant, window_id)
        window = rules.checked(
            replace(
                former,
                updated_at=self.clock(),
                version=former.version + 1,
                **vars(draft),
            )
        )
        named = {"target_ids": window.target_ids}
        require_targets(self.targets, tenant, named, former.target_ids)
        if not self.store.replace(former, window):
            raise changing("the maintenance window", Contended)
        return window

    def remove(self, tenant: str, window_id: str) -> None:
        """Remove the window. Raises NotFound and Contended."""
        if not self.store.remove(self.get(tenant, window_id)):
            raise changing("the maintenance window", Contended)


@service
class Maintenance:
    """Checks whether targets are in maintenance; changes take effect within 30 seconds."""

    store: WindowStore
    clock: Clock

    def __post_init__(self) -> None:
        self._known = Recent[str, Sequence[MaintenanceWindow]](_KNOWN_SECONDS, _TENANTS)

    def covers(self, tenant: str, target_id: str, now: datetime) -> bool:
        """Return whether the target is in maintenance. Raises DependencyUnavailable."""
        return self.until(tenant, target_id, now) is not None

    def until(self, tenant: str, target_id: str, now: datetime) -> datetime | None:
        """Return until when the target is in maintenance; None if it isn't.

        Raises DependencyUnavailable.
        """
        windows = self._known.get(tenant, self.clock(), lambda: self.store.all(tenant))
        return rules.any_open_until(windows, target_id, now)
