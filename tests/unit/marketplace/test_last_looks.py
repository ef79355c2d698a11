"""A job whose time is over looks once more at what it made, and makes nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from spinneret.jobs.models import JobRef, Transition
from spinneret.marketplace import limits
from spinneret.marketplace.listings.models import ListingState
from tests.markets.bench import Bench
from tests.markets.web import StubResponse
from tests.sampling import sampled

HOUR = limits.MARKETPLACE_PENDING_SECONDS


def _lost_then_held(bench: Bench, path: str, *, happens: bool) -> None:
    """The answer to a POST is lost; from then on the marketplace takes no calls for an hour."""
    lost_at: list[float] = []

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        now = bench.clock().timestamp()
        if lost_at and now - lost_at[0] < HOUR:
            return StubResponse(429, {})
        if not lost_at and name.endswith(path):
            lost_at.append(now)
            if happens:
                serve()
            return StubResponse(503)
        return serve()

    bench.web.around = around


def _listed(bench: Bench, marketplace: str) -> int:
    return len(bench.ebay.listings if marketplace == "ebay" else bench.etsy.listings)


@pytest.mark.parametrize(
    ("marketplace", "path", "ends"),
    [
        ("ebay", "/publish", "completed"),
        ("ebay", "/offer", "expired"),  # the offer is adopted, and isn't published any more
        ("etsy", "/listings", "expired"),  # the draft is
    ],
)
def test_what_was_made_is_adopted_before_the_job_expires(
    marketplace: str, path: str, ends: str, memory: Bench
) -> None:
    bench = memory
    product = bench.product()
    _lost_then_held(bench, path, happens=True)
    job = bench.done("publish", marketplace, product)
    assert job.status == ends, job.last_error
    listing = bench.listings.get(bench.tenant, product.id, marketplace)
    assert listing is not None
    if ends == "completed":
        assert (listing.state, _listed(bench, marketplace)) == (ListingState.ACTIVE, 1)
    else:
        assert job.last_error is not None
        assert job.last_error.message == f"no slot in time: the limits of {marketplace}"
        found = [listing.reference, listing.external_id]
        assert any(found), found


@pytest.mark.parametrize("marketplace", sampled(["ebay", "etsy"]))
@pytest.mark.heavy
def test_a_look_that_has_to_wait_goes_on_within_its_hour(marketplace: str, memory: Bench) -> None:
    bench = memory
    path = {"ebay": "/publish", "etsy": "/listings"}[marketplace]
    product = bench.product()
    _lost_then_held(bench, path, happens=True)
    ref = bench.submit("publish", marketplace, product)
    _until_ending(bench, ref)
    bench.stores.rate_limiter.hold(bench.tenant, marketplace, bench.clock() + timedelta(seconds=50))
    job = bench.finish(ref)
    listing = bench.listings.get(bench.tenant, product.id, marketplace)
    assert listing is not None
    assert listing.external_id or listing.reference, job.last_error


def test_a_look_records_no_intent_of_what_it_does_not_make(memory: Bench) -> None:
    bench = memory
    product = bench.product()
    bench.web.around = lambda name, serve: serve() if "shipping" in name else StubResponse(429, {})
    ref = bench.submit("publish", "etsy", product)
    _until_ending(bench, ref)
    bench.web.around = lambda _, serve: serve()
    assert bench.finish(ref).status == "expired"
    assert bench.listings.get(bench.tenant, product.id, "etsy") is None
    assert bench.etsy.listings == {}


def test_what_was_not_made_is_not_made_by_the_look(memory: Bench) -> None:
    bench = memory
    product = bench.product()
    _lost_then_held(bench, "/offer", happens=False)
    ref = bench.submit("publish", "ebay", product)
    job = bench.finish(ref)
    assert (job.status, bench.ebay.offers) == ("expired", {})
    sent = [seen.method for seen in bench.web.seen if seen.method != "GET"]
    bench.web.around = lambda _, serve: serve()
    assert bench.done("publish", "ebay", product).status == "completed"
    assert "POST" in sent
    assert len(bench.ebay.offers) == 1


@pytest.mark.heavy
def test_a_browser_that_comes_back_for_the_look_is_asked_nothing(memory: Bench) -> None:
    bench = memory
    bench.plugin.away = True
    ref = bench.submit("publish", "vinted", bench.product())
    _until_ending(bench, ref)
    bench.plugin.away = False
    bench.plugin.open()
    job = bench.finish(ref)
    assert job.status == "expired"
    assert job.last_error is not None
    assert job.last_error.message == "no slot in time: a plug-in for vinted"
    assert bench.plugin.tasks == []


# covers B-05
def test_a_job_that_never_began_expires_at_once(bench: Bench) -> None:
    ref = bench.submit("publish", "ebay", bench.product())
    bench.queue.take()
    bench.clock.advance(HOUR)
    bench.sweep()
    assert bench.job(ref).status == "expired"


def test_a_pause_takes_the_look_back(memory: Bench) -> None:
    bench = memory
    product = bench.product()
    _lost_then_held(bench, "/offer", happens=False)
    ref = bench.submit("publish", "ebay", product)
    _until_ending(bench, ref)
    bench.control.move(ref, Transition.PAUSE)
    bench.control.move(ref, Transition.RESUME)
    assert bench.finish(ref).status == "completed"


def _until_ending(bench: Bench, ref: JobRef) -> None:
    bench.deliver()
    for _ in range(100):
        if bench.job(ref).ending:
            return
        bench.clock.advance(61)
        bench.sweep()
        if not bench.job(ref).ending:
            bench.deliver()
    raise AssertionError("its time isn't over")


@pytest.mark.heavy
def test_a_batch_ends_after_the_looks_of_its_jobs_with_exact_counts(memory: Bench) -> None:
    bench = memory
    ids = [bench.product(title).id for title in ("One", "Two")]
    _lost_then_held(bench, "/publish", happens=True)
    bench.machine.meanwhile = bench.sweep
    batch = bench.finish(bench.submit_batch("publish", "ebay", ids))
    assert batch.status == "partially_failed"
    assert batch.result == {
        "total_count": 2,
        "completed_count": 1,
        "failed_count": 1,
        "cancelled_count": 0,
        "pending_count": 0,
    }
    assert len(bench.ebay.listings) == 1
