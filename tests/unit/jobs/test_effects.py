"""Side effects in foreign systems: at most one per key, whatever happens around them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from spinneret.jobs.effects.service import Effects
from spinneret.jobs.models import JobStatus
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, FetchTimeout
from tests.fakes.effects import FakeEffectStore
from tests.unit.jobs.worker_bench import LEASE_SECONDS, Bench


class Foreign:
    """A shop that lists whatever it is asked to, as often as it is asked."""

    def __init__(self) -> None:
        self.listings: list[str] = []
        self.looked = 0

    def add(self) -> Mapping[str, Any]:
        self.listings.append(f"listing {len(self.listings)}")
        return {"id": self.listings[-1]}

    def find(self) -> Mapping[str, Any] | None:
        self.looked += 1
        return {"id": self.listings[-1]} if self.listings else None


@pytest.fixture
def shop() -> Foreign:
    return Foreign()


@pytest.fixture
def listing(bench: Bench, shop: Foreign) -> Callable[..., Mapping[str, Any]]:
    """Lists the product of a job once."""
    effects = Effects(FakeEffectStore(bench.store), bench.clock)

    def listed(
        context: Context, add: Callable[[], Mapping[str, Any]] = shop.add, seconds: float = 10
    ) -> Mapping[str, Any]:
        return effects.once(context, "product 1", "as it is", seconds, add, shop.find)

    return listed


def test_an_effect_is_performed_once_however_often_it_is_asked_for(
    bench: Bench, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        assert listing(context) == listing(context)
        if context.lease.fence == 1:
            raise FetchTimeout("slow")
        return listing(context)

    bench.run(handler)
    bench.clock.advance(60)
    job = bench.run(handler)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 0)


@pytest.mark.parametrize("happened", [True, False])
def test_who_meets_an_effect_in_doubt_looks_whether_it_happened(
    bench: Bench, shop: Foreign, listing: Callable[..., Mapping[str, Any]], happened: bool
) -> None:
    def interrupted() -> Mapping[str, Any]:
        if happened:
            shop.add()
        raise FetchTimeout("no answer")

    def handler(context: Context) -> Mapping[str, Any]:
        return listing(context, interrupted if context.lease.fence == 1 else shop.add)

    assert bench.run(handler).status is JobStatus.PENDING
    bench.clock.advance(60)
    job = bench.run(handler)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 1)


def test_an_effect_that_may_outlive_the_lease_is_not_begun(
    bench: Bench, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    longest = LEASE_SECONDS - bounds.EFFECT_MARGIN_SECONDS
    assert bench.run(lambda context: listing(context, seconds=longest + 0.1)).attempts == 0
    assert (bench.job.status, shop.listings) == (JobStatus.PENDING, [])
    job = bench.run(lambda context: listing(context, seconds=longest))
    assert (job.status, len(shop.listings)) == (JobStatus.COMPLETED, 1)


def test_an_outage_of_our_store_after_the_effect_does_not_repeat_it(
    bench: Bench, shop: Foreign
) -> None:
    store = FakeEffectStore(bench.store)
    effects = Effects(store, bench.clock)
    working = store.finish

    def down(*_: Any) -> None:
        store.finish = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        return effects.once(context, "product 1", "as it is", 10, shop.add, shop.find)

    store.finish = down  # type: ignore[method-assign]  # an outage
    assert bench.run(handler).attempts == 0
    bench.clock.advance(60)
    assert bench.run(handler).status is JobStatus.COMPLETED
    assert len(shop.listings) == 1
