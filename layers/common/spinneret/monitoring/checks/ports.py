"""Ports of the check service."""

from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring.checks.models import CheckResult
from spinneret.monitoring.incidents.models import StateChange
from spinneret.monitoring.targets.models import TargetWithState


class CheckStore(Protocol):
    """Results of checks. All methods raise DependencyUnavailable."""

    def record(self, watched: TargetWithState, result: CheckResult, step: StateChange) -> bool:
        """Write all changes of a check.

        Return False, and keep none of them, if the target no longer equals `watched`.
        """

    def put_off(self, watched: TargetWithState, until: datetime) -> bool:
        """Make the target due at `until`; return False if it no longer equals `watched`."""

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
        """Return results from `since` to `until`, both included, newest first, after a position.

        A page may hold fewer than `limit` results although more exist.
        """
