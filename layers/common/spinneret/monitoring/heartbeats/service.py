"""Record the calls of heartbeats."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from spinneret.access.keys.secrets import hash_of
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, existing
from spinneret.kernel.ids import NewId
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.incidents.rules import step
from spinneret.monitoring.targets.models import Status, TargetWithState
from spinneret.monitoring.targets.ports import Announce, TargetStore
from spinneret.monitoring.targets.rules import call_deadline, expected_seconds
from spinneret.outbox.ports import RelayEvents

_GAP: Final = timedelta(seconds=limits.HEARTBEAT_GAP_SECONDS)
_RACES: Final = 8  # the check of a late call, or the owner, may change the target meanwhile


@service
class HeartbeatService:
    """Records calls by their secret tokens. All methods raise DependencyUnavailable."""

    targets: TargetStore
    checks: CheckStore
    covers: Callable[[str, str, datetime], bool]
    """Function that returns whether a target is in maintenance."""
    relay_events: RelayEvents
    announce: Announce
    clock: Clock
    new_id: NewId

    def call(self, token: str) -> None:
        """Record a call; it ends the incident of a late one. Raises NotFound and Contended.

        A call changes no paused heartbeat, and none that is up and was called just before.
        """

        def recorded() -> bool:
            watched = existing(self.targets.called(hash_of(token)), "heartbeat")
            is_needless = watched.target.paused or self._is_repeated(watched)
            return is_needless or self._recorded(watched)

        until_written(recorded, changing("the heartbeat", Contended), _RACES)

    def _is_repeated(self, watched: TargetWithState) -> bool:
        state = watched.state
        if state.status is not Status.UP or state.called_at is None:
            return False
        return self.clock() - state.called_at < _GAP

    def _recorded(self, watched: TargetWithState) -> bool:
        target, last, now = watched.target, watched.state.last, self.clock()
        result = CheckResult(
            id=self.new_id("res"),
            checked_at=now,
            outcome=Outcome.UP,
            late_ms=0,
            is_call=True,
            in_maintenance=self.covers(target.tenant, target.id, now),
            interval_seconds=expected_seconds(target, None),
            paused_at=None if last is None else last.paused_at,
        )
        due_at = call_deadline(target, now)
        change = step(watched, result, due_at).with_state(called_at=now)
        if not self.checks.record(watched, result, change):
            return False
        self.announce(replace(watched, state=change.state))
        if change.reports:
            self.relay_events(target.tenant, target.id)
        return True
