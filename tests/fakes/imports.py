"""The store of imports in memory."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel.errors import LeaseLost
from spinneret.monitoring.imports.ports import SliceResult
from spinneret.monitoring.targets.models import TargetWithState
from spinneret.monitoring.targets.ports import TooMany, UrlTaken
from tests.fakes.jobs import FakeJobStore
from tests.fakes.monitoring import FakeWatch


class FakeImportStore:
    """Implements ImportStore; calls `before` and `after` around each write."""

    def __init__(self, jobs: FakeJobStore, watch: FakeWatch) -> None:
        self.slices: list[tuple[int, int]] = []
        """Position and length of each written slice."""
        self.before: Callable[[], None] = lambda: None
        self.after: Callable[[], None] = lambda: None
        self._jobs = jobs
        self._watch = watch
        self._outcomes: defaultdict[JobRef, list[Mapping[str, Any]]] = defaultdict(list)
        self._listings: dict[JobRef, str] = {}

    def outcomes(self, ref: JobRef) -> list[Mapping[str, Any]]:
        return list(self._outcomes[ref])

    def known(self, tenant: str, urls: Sequence[str]) -> Mapping[str, str]:
        return {
            each.target.canonical_url: each.target.id
            for each in self._watch.rows.values()
            if each.target.tenant == tenant and each.target.canonical_url in urls
        }

    def write(
        self,
        lease: Lease,
        first: int,
        outcomes: Sequence[Mapping[str, Any]],
        targets: Sequence[TargetWithState],
        most: int,
        now: datetime,
    ) -> SliceResult:
        self.before()
        ref = self._held(lease)
        rows = dict(self._watch.rows)
        for watched in targets:
            refusal = self._watch.add(watched, None, most)
            if refusal is not None:
                self._watch.rows = rows
                taken = isinstance(refusal, UrlTaken)
                assert taken or isinstance(refusal, TooMany)
                return SliceResult.URL_TAKEN if taken else SliceResult.TOO_MANY
        self._outcomes[ref][first:] = outcomes
        self.slices.append((first, len(outcomes)))
        self.after()
        return SliceResult.WRITTEN

    def listing(self, ref: JobRef) -> str | None:
        return self._listings.get(ref)

    def keep_listing(self, lease: Lease, listing: str, now: datetime) -> None:
        self._listings[self._held(lease)] = listing

    def _held(self, lease: Lease) -> JobRef:
        if not self._jobs.holds(lease):
            raise LeaseLost("the job is no longer held by this claim")
        return JobRef(tenant=lease.tenant, job_id=lease.job_id)
