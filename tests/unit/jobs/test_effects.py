"""Side effects in foreign systems happen at most once per key, even after failures."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from spinneret.jobs import limits
from spinneret.jobs.control import JobControl
from spinneret.jobs.effects.service import SideEffects
from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, FetchTimeout, MarketplaceRefused
from tests import factories
from tests.fakes.effects import FakeEffectStore
from tests.unit.jobs.worker_world import LEASE_SECONDS, WorkerWorld


class Foreign:
    """A shop that adds a listing for every request, also for repeated ones."""

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
def listing(world: WorkerWorld, shop: Foreign) -> Callable[..., Mapping[str, Any]]:
    """Provide a function that lists a job's product once."""
    effects = SideEffects(store=FakeEffectStore(world.store), clock=world.clock)

    def listed(
        context: Context, add: Callable[[], Mapping[str, Any]] = shop.add, seconds: float = 10
    ) -> Mapping[str, Any]:
        return effects.once(context, "product 1", "as it is", seconds, add, shop.find)

    return listed


def test_an_effect_is_performed_once_however_often_it_is_asked_for(
    world: WorkerWorld, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    def handler(context: Context) -> Mapping[str, Any]:
        assert listing(context) == listing(context)
        if context.lease.fence == 1:
            raise FetchTimeout("slow")
        return listing(context)

    world.run(handler)
    world.clock.advance(60)
    job = world.run(handler)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 0)


@pytest.mark.parametrize("happened", [True, False])
def test_who_meets_an_effect_in_doubt_looks_whether_it_happened(
    world: WorkerWorld, shop: Foreign, listing: Callable[..., Mapping[str, Any]], happened: bool
) -> None:
    def interrupted() -> Mapping[str, Any]:
        if happened:
            shop.add()
        raise FetchTimeout("no answer")

    def handler(context: Context) -> Mapping[str, Any]:
        return listing(context, interrupted if context.lease.fence == 1 else shop.add)

    assert world.run(handler).status is JobStatus.PENDING
    world.clock.advance(60)
    job = world.run(handler)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 1)


def test_a_call_that_ended_before_its_answer_came_needs_no_waiting_for(
    world: WorkerWorld, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    def asked() -> Mapping[str, Any]:
        shop.add()
        raise Defer(world.clock(), "the answer")

    def handler(context: Context) -> Mapping[str, Any]:
        return listing(context, asked if context.lease.fence == 1 else shop.add)

    assert world.run(handler).waiting_for == "the answer"
    job = world.run(handler)  # without a wait
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 1)


def test_a_call_that_was_refused_needs_no_waiting_for_when_the_job_is_retried(
    world: WorkerWorld,
    shop: Foreign,
    listing: Callable[..., Mapping[str, Any]],
    control: JobControl,
) -> None:
    def refused() -> Mapping[str, Any]:
        raise MarketplaceRefused("not a leaf category")

    def handler(context: Context) -> Mapping[str, Any]:
        return listing(context, refused if context.job.run == 1 else shop.add)

    assert world.run(handler).status is JobStatus.FAILED
    control.move(world.ref, Transition.RETRY)
    job = world.run(handler)  # without a wait
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 1)


def test_an_effect_that_may_outlive_the_lease_is_not_begun(
    world: WorkerWorld, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    longest = LEASE_SECONDS - limits.EFFECT_MARGIN_SECONDS
    assert world.run(lambda context: listing(context, seconds=longest + 0.1)).attempts == 0
    assert (world.job.status, shop.listings) == (JobStatus.PENDING, [])
    job = world.run(lambda context: listing(context, seconds=longest))
    assert (job.status, len(shop.listings)) == (JobStatus.COMPLETED, 1)


def test_an_outage_of_our_store_after_the_effect_does_not_repeat_it(
    world: WorkerWorld, shop: Foreign
) -> None:
    store = FakeEffectStore(world.store)
    effects = SideEffects(store=store, clock=world.clock)
    working = store.finish

    def down(*_: Any) -> None:
        store.finish = working  # type: ignore[method-assign]  # only once
        raise DependencyUnavailable("dynamodb")

    def handler(context: Context) -> Mapping[str, Any]:
        return effects.once(context, "product 1", "as it is", 10, shop.add, shop.find)

    store.finish = down  # type: ignore[method-assign]  # an outage
    assert world.run(handler).attempts == 0
    world.clock.advance(60)
    assert world.run(handler).status is JobStatus.COMPLETED
    assert len(shop.listings) == 1


# ---------------------------------------------------------------- During the call


def test_a_job_that_is_paused_and_resumed_during_the_call_performs_the_effect_once(
    world: WorkerWorld,
    shop: Foreign,
    listing: Callable[..., Mapping[str, Any]],
    control: JobControl,
) -> None:
    def during_the_call() -> Mapping[str, Any]:
        control.move(world.ref, Transition.PAUSE)
        control.move(world.ref, Transition.RESUME)
        waiting = world.run(listing)  # a second worker, before the shop adds the listing
        assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
        return shop.add()

    world.run(lambda context: listing(context, during_the_call))
    world.clock.advance(60)
    job = world.run(listing)
    assert (job.status, job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 0)


def test_a_job_that_is_cancelled_during_the_call_leaves_the_effect_to_no_other_job_meanwhile(
    world: WorkerWorld,
    shop: Foreign,
    listing: Callable[..., Mapping[str, Any]],
    control: JobControl,
) -> None:
    world.add(factories.job(id="job_2"))
    other = JobRef(tenant=world.ref.tenant, job_id="job_2")

    def during_the_call() -> Mapping[str, Any]:
        control.move(world.ref, Transition.CANCEL)
        world.run(listing, other)
        return shop.add()

    world.run(lambda context: listing(context, during_the_call))
    world.clock.advance(60)
    world.run(listing, other)
    job = world.store.get(other)
    assert job is not None
    assert (job.status, job.attempts, job.result) == (
        JobStatus.COMPLETED,
        0,
        {"id": "listing 0"},
    )
    assert len(shop.listings) == 1


def test_a_call_that_a_slow_look_up_delays_past_its_time_is_announced_anew(
    world: WorkerWorld,
    shop: Foreign,
    listing: Callable[..., Mapping[str, Any]],
    control: JobControl,
) -> None:
    """The look-up takes longer than the call may; no other claim may consider the call finished."""

    def lost() -> Mapping[str, Any]:
        raise FetchTimeout("no answer")

    world.run(lambda context: listing(context, lost))
    world.clock.advance(60)
    finding = shop.find

    def slow() -> Mapping[str, Any] | None:
        world.clock.advance(35)
        return finding()

    shop.find = slow  # type: ignore[method-assign]  # a slow look-up

    def during_the_call() -> Mapping[str, Any]:
        shop.find = finding  # type: ignore[method-assign]
        control.move(world.ref, Transition.PAUSE)
        control.move(world.ref, Transition.RESUME)
        world.run(listing)
        return shop.add()

    world.run(lambda context: listing(context, during_the_call))
    world.clock.advance(60)
    assert world.run(listing).status is JobStatus.COMPLETED
    assert len(shop.listings) == 1


def test_what_a_look_up_finds_is_kept(
    world: WorkerWorld, shop: Foreign, listing: Callable[..., Mapping[str, Any]]
) -> None:
    """A later claim reads the record and doesn't ask the foreign system again."""

    def interrupted() -> Mapping[str, Any]:
        shop.add()
        raise FetchTimeout("no answer")

    def handler(context: Context) -> Mapping[str, Any]:
        first = context.lease.fence == 1
        found = listing(context, interrupted if first else shop.add)
        if context.lease.fence == 2:
            raise FetchTimeout("slow")
        return found

    for _ in range(3):
        world.run(handler)
        world.clock.advance(60)
    assert (world.job.status, world.job.result) == (JobStatus.COMPLETED, {"id": "listing 0"})
    assert (len(shop.listings), shop.looked) == (1, 1)


def test_a_call_whose_time_went_by_while_it_was_recorded_is_not_made(
    world: WorkerWorld, shop: Foreign
) -> None:
    """After that time, another claim may consider the call finished."""
    store = FakeEffectStore(world.store)
    working = store.begin

    def slow(*given: Any) -> Any:
        begun = working(*given)
        world.clock.advance(bounds.AWS_CALL_SECONDS + 0.1)
        return begun

    store.begin = slow  # type: ignore[method-assign]  # a slow response
    effects = SideEffects(store=store, clock=world.clock)
    job = world.run(
        lambda context: effects.once(context, "product 1", "as it is", 10, shop.add, shop.find)
    )
    assert (job.status, job.attempts, shop.listings) == (JobStatus.PENDING, 0, [])
