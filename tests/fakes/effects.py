"""Records of side effects in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Any

from spinneret.jobs import limits
from spinneret.jobs.models import Lease
from spinneret.jobs.ports import EffectDone, EffectStarted, EffectUncertain
from spinneret.kernel.errors import Contended, IdempotencyMismatch, LeaseLost
from tests.fakes.jobs import FakeJobStore, through_json


@dataclass(frozen=True)
class _Effect:
    request: str
    lease: Lease
    until: datetime
    result: Any = None


class FakeEffectStore:
    """Implements EffectStore; a FakeJobStore checks the leases."""

    def __init__(self, jobs: FakeJobStore) -> None:
        self._jobs = jobs
        self._lock = Lock()
        self._effects: dict[tuple[str, str], _Effect] = {}

    def purge(self) -> None:
        """Remove all records of effects, as TTL eventually does."""
        self._effects.clear()

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime, until: datetime
    ) -> EffectStarted | EffectUncertain | EffectDone:
        with self._lock:
            if not self._jobs.holds(lease):
                raise LeaseLost(f"job {lease.job_id} is no longer held by this claim")
            known = self._effects.get((lease.tenant, key))
            if known is not None:
                if known.request != request:
                    raise IdempotencyMismatch("this effect's key was used for another request")
                if known.result is not None:
                    return EffectDone(result=known.result)
                if known.lease != lease and known.until > now:
                    wait = (known.until - now).total_seconds()
                    raise Contended("another claim's call may still run", retry_after=wait)
                other = known.lease.job_id != lease.job_id
                if other and self._jobs.holds(known.lease):
                    raise Contended(
                        "another job is performing this effect",
                        retry_after=limits.EFFECT_MARGIN_SECONDS,
                    )
            self._effects[lease.tenant, key] = _Effect(request, lease, until)
            return EffectStarted() if known is None else EffectUncertain()

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        with self._lock:
            known = self._effects.get((lease.tenant, key))
            if known is None or known.lease != lease or known.result is not None:
                raise LeaseLost(f"the effect of job {lease.job_id} was taken over")
            self._effects[lease.tenant, key] = replace(known, result=through_json(result))
