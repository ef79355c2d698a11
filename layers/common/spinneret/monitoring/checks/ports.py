"""What checks need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring.checks.models import CheckResult
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.slots.models import SlotLease
from spinneret.monitoring.targets.models import TargetWithState


class CheckStore(Protocol):
    """What checks found. All methods raise DependencyUnavailable."""

    def record(
        self,
        watched: TargetWithState,
        result: CheckResult,
        step: StateChange,
        slot: SlotLease | None,
    ) -> bool:
        """Write everything that a check changes, and give its slot back, all or nothing.

        False when the target isn't as `watched` any more, or the slot was lost.
        """
        ...

    def results(
        self,
        tenant: str,
        target_id: str,
        *,
        since: datetime | None,
        until: datetime | None,
        after: str | None,
        limit: int,
    ) -> Page[CheckResult]:
        """Results from `since` to `until`, both included, newest first, behind a position.

        A page may hold fewer than `limit` though there are more.
        """
        ...
