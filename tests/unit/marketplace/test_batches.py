"""Batches: exact counters, failures that don't stop other sellers, and retries of failed jobs."""

import re
from collections.abc import Callable

import pytest

from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.kernel.errors import ValidationFailed
from spinneret.marketplace import limits
from spinneret.marketplace.publishing.views import batch_view, submitted_batch
from tests.contract.backends import Tables
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.sampling import sampled


def _submit(world: MarketWorld, ids: list[str], action: str = "publish") -> JobRef:
    made = world.publishing.submit_batch(
        world.tenant, "ebay", action, ids, None, None, submitted_batch
    )
    body = made.reply.body
    assert (body["total_count"], body["pending_count"]) == (len(ids), len(ids))
    return JobRef(tenant=world.tenant, job_id=str(body["batch_id"]))


def _children(world: MarketWorld, batch: JobRef) -> list[JobRef]:
    wanted = list(JobStatus)
    return list(world.store.children(batch, wanted, None, 1000).items)


# covers B-02
def test_a_batch_counts_its_jobs_and_fails_in_part(world: MarketWorld) -> None:
    world.ebay.refused_titles["Odd coat"] = 25005
    ids = [world.product(title).id for title in ("One", "Odd coat", "Three")]
    batch = _submit(world, ids)
    assert re.fullmatch(r"publish_\d{8}T\d{6}_[0-9a-f]{32}", batch.job_id)
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert view.status == "partially_failed"
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    assert counts == (3, 2, 1, 0)
    assert (view.progress_percent, view.is_terminal, view.is_active) == (100, True, False)


def test_a_retry_of_a_batch_runs_only_what_failed(world: MarketWorld) -> None:
    world.ebay.refused_titles["Odd coat"] = 25005
    batch = _submit(world, [world.product(title).id for title in ("One", "Odd coat")])
    world.finish(batch)
    published = world.ebay.calls["_publish"]
    world.ebay.refused_titles.clear()
    world.clock.advance(1)
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.RETRY)
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", 2, 0)
    assert world.ebay.calls["_publish"] == published + 1


def test_a_leave_that_is_withdrawn_in_the_middle_of_a_batch_fails_the_rest_for_that(
    world: MarketWorld,
) -> None:
    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if world.ebay.calls["_publish"] == 3:
            world.ebay.tokens, world.ebay.revoked = set(), True
        return said

    world.web.around = around
    products = [world.product(f"Coat {number}") for number in range(7)]
    batch = _submit(world, [each.id for each in products])
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    assert (view.status, counts) == ("partially_failed", (7, 3, 4, 0))
    failed = [ref for ref in _children(world, batch) if world.job(ref).status == "failed"]
    reasons = [
        task.reason
        for ref in failed
        for task in world.tasks.of_job(world.tenant, ref.job_id)
        if task.error_message
    ]
    assert reasons == ["needs_reauth"] * 4
    world.web.around = lambda _, serve: serve()
    world.ebay.tokens, world.ebay.revoked = {"access-0"}, False
    world.connect("ebay")
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.RETRY)
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", 7, 0)
    assert world.ebay.calls["_publish"] == 7
    assert [len(world.ebay.live(each.sku)) for each in products] == [1] * 7


# covers B-02
def test_a_cancelled_batch_cancels_what_waits(world: MarketWorld) -> None:
    batch = _submit(world, [world.product(title).id for title in ("One", "Two")])
    world.dispatch(batch)
    first, _ = _children(world, batch)
    assert world.once(first).status == "completed"
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.CANCEL)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.cancelled_count) == ("cancelled", 1, 1)


def test_a_batch_of_unknown_products_names_them(world: MarketWorld) -> None:
    with pytest.raises(ValidationFailed) as refused:
        _submit(world, [*[world.product().id] * 2, "prd_none"])
    assert refused.value.details["fields"] == [
        {"path": "product_ids.2", "message": "no such product", "hint": None}
    ]


@pytest.mark.heavy
def test_a_plan_writes_nothing_and_says_what_would_happen(moto_tables: Tables) -> None:
    world = MarketWorld(moto_tables)
    world.connect("ebay")
    listed, fresh, wrong = world.product(), world.product("Two"), world.product("x" * 81)
    world.done("publish", "ebay", listed)
    sent = len(world.web.seen)
    writes: list[str] = []
    moto_tables.client.meta.events.register(
        "before-call.dynamodb", lambda model, **_: writes.append(model.name), unique_id="plan"
    )
    ids = [listed.id, fresh.id, wrong.id, "prd_none"]
    found = world.planner.plan(world.tenant, "ebay", "publish", ids)
    moto_tables.client.meta.events.unregister("before-call.dynamodb", unique_id="plan")
    assert [each.outcome for each in found] == ["update", "create", "refused", "refused"]
    assert found[2].fields[0]["path"] == "title"
    # The planner's requests count against the seller's rate limit; it writes nothing else.
    assert set(writes) == {"GetItem", "UpdateItem"}
    asked = [seen for seen in world.web.seen[sent:] if not seen.path.startswith("/identity/")]
    assert {seen.method for seen in asked} == {"GET"}


def test_statistics_count_how_each_action_type_ended(world: MarketWorld) -> None:
    world.ebay.refused_titles["Odd coat"] = 25005
    world.done("publish", "ebay", world.product())
    world.done("publish", "ebay", world.product("Odd coat"))
    [day] = world.statistics.of_day(world.tenant, world.clock().date().isoformat())
    assert (day.action_code, day.marketplace) == ("publish", "ebay")
    assert (day.completed, day.failed) == (1, 1)


# covers B-02
@pytest.mark.parametrize("total", sampled([100, limits.BATCH_PRODUCTS_MAX], quick=0, tested=1))
def test_products_of_a_batch_fail_for_themselves_alone_and_a_retry_runs_those(
    memory: MarketWorld, total: int
) -> None:
    world, odd = memory, 50
    failing = [number for number in range(total) if number % odd == 7]
    for number in failing:
        world.ebay.refused_titles[f"Coat {number}"] = 25005
    ids = [world.product(f"Coat {number}").id for number in range(total)]
    batch = _submit(world, ids)
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert (view.status, view.progress_percent) == ("partially_failed", 100)
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    fine, failed_count = total - len(failing), len(failing)
    assert counts == (total, fine, failed_count, 0)
    jobs = {ref: world.job(ref) for ref in _children(world, batch)}
    failed = {ref for ref, job in jobs.items() if job.status == "failed"}
    assert {jobs[ref].payload["product_id"] for ref in failed} == {ids[n] for n in failing}
    assert len(world.ebay.listings) == fine
    before = world.ebay.calls["_publish"], world.ebay.calls["_make_offer"]
    world.ebay.refused_titles.clear()
    world.clock.advance(1)
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.RETRY)
    world.finish(batch)
    view = batch_view(world.publishing.batch(world.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", total, 0)
    assert {ref for ref in jobs if world.job(ref).run == 2} == failed
    assert all(world.job(ref) == job for ref, job in jobs.items() if ref not in failed)
    after = world.ebay.calls["_publish"], world.ebay.calls["_make_offer"]
    assert after == (before[0] + failed_count, before[1])
    skus = [world.ebay.offers[offer]["sku"] for offer in world.ebay.listings.values()]
    assert len(skus) == len(set(skus)) == total
