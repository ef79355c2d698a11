"""An expired job's final look: it adopts what its earlier calls created, and creates nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from spinneret.jobs.models import JobRef, Transition
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import ListingState
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.sampling import sampled

HOUR = limits.MARKETPLACE_PENDING_SECONDS


def _lost_then_held(world: MarketWorld, path: str, *, happens: bool) -> None:
    """Lose the answer to the first POST to `path`, and the call itself unless it `happens`.

    The marketplace then answers 429 to all calls for an hour.
    """
    lost_at: list[float] = []

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        now = world.clock().timestamp()
        if lost_at and now - lost_at[0] < HOUR:
            return StubResponse(429, {})
        if not lost_at and name.endswith(path):
            lost_at.append(now)
            if happens:
                serve()
            return StubResponse(503)
        return serve()

    world.web.around = around


def _listed(world: MarketWorld, marketplace: str) -> int:
    return len(world.ebay.listings if marketplace == "ebay" else world.etsy.listings)


@pytest.mark.parametrize(
    ("marketplace", "path", "ends"),
    [
        ("ebay", "/publish", "completed"),
        ("ebay", "/offer", "expired"),  # adopts the offer, but doesn't publish it
        ("etsy", "/listings", "expired"),  # adopts the draft
    ],
)
def test_what_was_made_is_adopted_before_the_job_expires(
    marketplace: str, path: str, ends: str, memory: MarketWorld
) -> None:
    world = memory
    product = world.product()
    _lost_then_held(world, path, happens=True)
    job = world.done("publish", marketplace, product)
    assert job.status == ends, job.last_error
    listing = world.listings.get(world.tenant, product.id, marketplace)
    assert listing is not None
    if ends == "completed":
        assert (listing.state, _listed(world, marketplace)) == (ListingState.ACTIVE, 1)
    else:
        assert job.last_error is not None
        assert job.last_error.message == f"no slot in time: the limits of {marketplace}"
        found = [listing.reference, listing.external_id]
        assert any(found), found


@pytest.mark.parametrize("marketplace", sampled(["ebay", "etsy"]))
@pytest.mark.heavy
def test_a_look_that_has_to_wait_goes_on_within_its_hour(
    marketplace: str, memory: MarketWorld
) -> None:
    world = memory
    path = {"ebay": "/publish", "etsy": "/listings"}[marketplace]
    product = world.product()
    _lost_then_held(world, path, happens=True)
    ref = world.submit("publish", marketplace, product)
    _until_ending(world, ref)
    world.stores.rate_limiter.hold(world.tenant, marketplace, world.clock() + timedelta(seconds=50))
    job = world.finish(ref)
    listing = world.listings.get(world.tenant, product.id, marketplace)
    assert listing is not None
    assert listing.external_id or listing.reference, job.last_error


def test_a_look_records_no_intent_of_what_it_does_not_make(memory: MarketWorld) -> None:
    world = memory
    product = world.product()
    world.web.around = lambda name, serve: serve() if "shipping" in name else StubResponse(429, {})
    ref = world.submit("publish", "etsy", product)
    _until_ending(world, ref)
    world.web.around = lambda _, serve: serve()
    assert world.finish(ref).status == "expired"
    assert world.listings.get(world.tenant, product.id, "etsy") is None
    assert world.etsy.listings == {}


def test_what_was_not_made_is_not_made_by_the_look(memory: MarketWorld) -> None:
    world = memory
    product = world.product()
    _lost_then_held(world, "/offer", happens=False)
    ref = world.submit("publish", "ebay", product)
    job = world.finish(ref)
    assert (job.status, world.ebay.offers) == ("expired", {})
    sent = [seen.method for seen in world.web.seen if seen.method != "GET"]
    world.web.around = lambda _, serve: serve()
    assert world.done("publish", "ebay", product).status == "completed"
    assert "POST" in sent
    assert len(world.ebay.offers) == 1


@pytest.mark.heavy
def test_a_browser_that_comes_back_for_the_look_is_asked_nothing(memory: MarketWorld) -> None:
    world = memory
    world.plugin.away = True
    ref = world.submit("publish", "vinted", world.product())
    _until_ending(world, ref)
    world.plugin.away = False
    world.plugin.open()
    job = world.finish(ref)
    assert job.status == "expired"
    assert job.last_error is not None
    assert job.last_error.message == "no slot in time: a plug-in for vinted"
    assert world.plugin.tasks == []


# covers B-05
def test_a_job_that_never_began_expires_at_once(world: MarketWorld) -> None:
    ref = world.submit("publish", "ebay", world.product())
    world.queue.take()
    world.clock.advance(HOUR)
    world.sweep()
    assert world.job(ref).status == "expired"


def test_a_pause_takes_the_look_back(memory: MarketWorld) -> None:
    world = memory
    product = world.product()
    _lost_then_held(world, "/offer", happens=False)
    ref = world.submit("publish", "ebay", product)
    _until_ending(world, ref)
    world.control.move(ref, Transition.PAUSE)
    world.control.move(ref, Transition.RESUME)
    assert world.finish(ref).status == "completed"


def _until_ending(world: MarketWorld, ref: JobRef) -> None:
    world.deliver()
    for _ in range(100):
        if world.job(ref).ending:
            return
        world.clock.advance(61)
        world.sweep()
        if not world.job(ref).ending:
            world.deliver()
    raise AssertionError("its time isn't over")


@pytest.mark.heavy
def test_a_batch_ends_after_the_looks_of_its_jobs_with_exact_counts(memory: MarketWorld) -> None:
    world = memory
    ids = [world.product(title).id for title in ("One", "Two")]
    _lost_then_held(world, "/publish", happens=True)
    world.machine.meanwhile = world.sweep
    batch = world.finish(world.submit_batch("publish", "ebay", ids))
    assert batch.status == "partially_failed"
    assert batch.result == {
        "total_count": 2,
        "completed_count": 1,
        "failed_count": 1,
        "cancelled_count": 0,
        "pending_count": 0,
    }
    assert len(world.ebay.listings) == 1
