"""Side effects outside our store, such as a listing or a delivery: at most one per key.

The store can't share a transaction with a foreign system. So a record is written before the call,
and its result after it; both writes carry the fence of the claim. The record also holds the latest
time at which the call can still run. Until then no other claim starts it, not even the job's own
next one: a pause or a cancel ends a claim while its call continues. A claim that finds an older
record without a result asks the foreign system what happened.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs import limits
from spinneret.jobs.ports import EffectDone, EffectStarted, EffectStore, EffectUncertain
from spinneret.jobs.worker import Context, Defer, ReleaseJob
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, MarketplaceUnsettled, PermanentError
from spinneret.kernel.service import service

Result = Mapping[str, Any]


@service
class SideEffects:
    """Perform side effects of jobs."""

    store: EffectStore
    clock: Clock

    def once(
        self,
        context: Context,
        key: str,
        request: str,
        seconds: float,
        perform: Callable[[], Result],
        reconcile: Callable[[], Result | None],
    ) -> Result:
        """Return the result of the tenant's effect `key`, performed now or earlier.

        `request` is the fingerprint of the request; another one under the same key raises
        IdempotencyMismatch. `perform` takes at most `seconds`, which must lie within the lease;
        otherwise this raises ReleaseJob. `reconcile` checks whether an earlier claim performed the
        effect, and returns its result or None. The job is deferred while another claim's call may
        still run. Raises LeaseLost.

        `perform` and `reconcile` may raise Defer, a PermanentError or MarketplaceUnsettled once
        their calls have ended: the effect stays in doubt.
        """
        begun, until = self._begin(context, key, request, seconds)
        if isinstance(begun, EffectDone):
            return begun.result
        try:
            outcome = None
            if isinstance(begun, EffectUncertain):
                outcome = reconcile()
                if (
                    outcome is None
                ):  # this took time, so the record must be extended to cover the call
                    _, until = self._begin(context, key, request, seconds)
            if outcome is None:
                if self.clock() + _call(seconds) > until:
                    raise ReleaseJob
                outcome = perform()
        except (Defer, PermanentError, MarketplaceUnsettled):
            # the call has ended, so the next claim needn't wait for it
            now = self.clock()
            self.store.begin(context.lease, key, request, now, now)
            raise
        self.store.finish(context.lease, key, outcome, self.clock())
        return outcome

    def _begin(
        self, context: Context, key: str, request: str, seconds: float
    ) -> tuple[EffectStarted | EffectUncertain | EffectDone, datetime]:
        """Record the effect as begun; return the outcome and the end of its call.

        Raises ReleaseJob and Defer.
        """
        now = self.clock()
        lease_end = context.job.locked_until
        if lease_end is None or now + _call(seconds) > lease_end:
            raise ReleaseJob
        until = min(lease_end, now + _call(seconds) + timedelta(seconds=bounds.AWS_CALL_SECONDS))
        try:
            return self.store.begin(context.lease, key, request, now, until), until
        except Contended as busy:
            wait = timedelta(seconds=busy.retry_after or 0.0)
            raise Defer(now + wait, "an earlier call") from busy


def _call(seconds: float) -> timedelta:
    """Return the time that a call needs, including the skew between two clocks."""
    return timedelta(seconds=seconds + limits.EFFECT_MARGIN_SECONDS)
