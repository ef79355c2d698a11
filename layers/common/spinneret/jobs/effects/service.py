"""Side effects outside of our store, such as a listing or a delivery: at most one per key.

The store can't share a transaction with a foreign system. So a record is written before the call,
and its result after it; both writes carry the fence of the claim. A claim that finds a record
without a result asks the foreign system what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from spinneret.jobs.ports import EffectDone, EffectStore, InDoubt
from spinneret.jobs.worker import Context, HandBack
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock

Result = Mapping[str, Any]


class Effects:
    """Performs side effects of jobs."""

    def __init__(self, store: EffectStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def once(
        self,
        context: Context,
        key: str,
        request: str,
        seconds: float,
        perform: Callable[[], Result],
        reconcile: Callable[[], Result | None],
    ) -> Result:
        """The result of the effect `key` of this tenant, performed now or earlier.

        `request` is the fingerprint of what is asked for; another one under the same key raises
        IdempotencyMismatch. `perform` takes at most `seconds`, which must lie within the lease, or
        the job is handed back: by then nobody else can have begun. `reconcile` finds out whether
        an earlier claim that didn't come back performed it: its result, or None. Raises LeaseLost,
        and Contended while another job is at it.
        """
        begun = self._store.begin(context.lease, key, request, self._clock())
        if isinstance(begun, EffectDone):
            return begun.result
        outcome = reconcile() if isinstance(begun, InDoubt) else None
        if outcome is None:
            self._must_fit(context, seconds)
            outcome = perform()
        self._store.finish(context.lease, key, outcome, self._clock())
        return outcome

    def _must_fit(self, context: Context, seconds: float) -> None:
        until = context.job.locked_until
        needed = timedelta(seconds=seconds + bounds.EFFECT_MARGIN_SECONDS)
        if until is None or self._clock() + needed > until:
            raise HandBack
