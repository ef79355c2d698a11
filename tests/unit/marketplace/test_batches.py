"""Batches: exact counters, one seller's failures that stop nobody, and retries of what failed."""

import re
from collections.abc import Callable

import pytest

from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.kernel.errors import ValidationFailed
from spinneret.marketplace import limits
from spinneret.marketplace.publishing.views import batch_view, submitted_batch
from tests.contract.backends import Tables
from tests.markets.bench import Bench
from tests.markets.web import StubResponse
from tests.sampling import sampled


def _submit(bench: Bench, ids: list[str], action: str = "publish") -> JobRef:
    made = bench.publishing.submit_batch(
        bench.tenant, "ebay", action, ids, None, None, submitted_batch
    )
    body = made.reply.body
    assert (body["total_count"], body["pending_count"]) == (len(ids), len(ids))
    return JobRef(tenant=bench.tenant, job_id=str(body["batch_id"]))


def _children(bench: Bench, batch: JobRef) -> list[JobRef]:
    wanted = list(JobStatus)
    return list(bench.store.children(batch, wanted, None, 1000).items)


# covers B-02
def test_a_batch_counts_its_jobs_and_fails_in_part(bench: Bench) -> None:
    bench.ebay.refused_titles["Odd coat"] = 25005
    ids = [bench.product(title).id for title in ("One", "Odd coat", "Three")]
    batch = _submit(bench, ids)
    assert re.fullmatch(r"publish_\d{8}T\d{6}_[0-9a-f]{32}", batch.job_id)
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert view.status == "partially_failed"
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    assert counts == (3, 2, 1, 0)
    assert (view.progress_percent, view.is_terminal, view.is_active) == (100, True, False)


def test_a_retry_of_a_batch_runs_only_what_failed(bench: Bench) -> None:
    bench.ebay.refused_titles["Odd coat"] = 25005
    batch = _submit(bench, [bench.product(title).id for title in ("One", "Odd coat")])
    bench.finish(batch)
    published = bench.ebay.calls["_publish"]
    bench.ebay.refused_titles.clear()
    bench.clock.advance(1)
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.RETRY)
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", 2, 0)
    assert bench.ebay.calls["_publish"] == published + 1


def test_a_leave_that_is_withdrawn_in_the_middle_of_a_batch_fails_the_rest_for_that(
    bench: Bench,
) -> None:
    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if bench.ebay.calls["_publish"] == 3:
            bench.ebay.tokens, bench.ebay.revoked = set(), True
        return said

    bench.web.around = around
    products = [bench.product(f"Coat {number}") for number in range(7)]
    batch = _submit(bench, [each.id for each in products])
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    assert (view.status, counts) == ("partially_failed", (7, 3, 4, 0))
    failed = [ref for ref in _children(bench, batch) if bench.job(ref).status == "failed"]
    reasons = [
        task.reason
        for ref in failed
        for task in bench.tasks.of_job(bench.tenant, ref.job_id)
        if task.error_message
    ]
    assert reasons == ["needs_reauth"] * 4
    bench.web.around = lambda _, serve: serve()
    bench.ebay.tokens, bench.ebay.revoked = {"access-0"}, False
    bench.connect("ebay")
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.RETRY)
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", 7, 0)
    assert bench.ebay.calls["_publish"] == 7
    assert [len(bench.ebay.live(each.sku)) for each in products] == [1] * 7


# covers B-02
def test_a_cancelled_batch_cancels_what_waits(bench: Bench) -> None:
    batch = _submit(bench, [bench.product(title).id for title in ("One", "Two")])
    bench.dispatch(batch)
    first, _ = _children(bench, batch)
    assert bench.once(first).status == "completed"
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.CANCEL)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.cancelled_count) == ("cancelled", 1, 1)


def test_a_batch_of_unknown_products_names_them(bench: Bench) -> None:
    with pytest.raises(ValidationFailed) as refused:
        _submit(bench, [*[bench.product().id] * 2, "prd_none"])
    assert refused.value.details["fields"] == [
        {"path": "product_ids.2", "message": "no such product", "hint": None}
    ]


@pytest.mark.heavy
def test_a_plan_writes_nothing_and_says_what_would_happen(moto_tables: Tables) -> None:
    bench = Bench(moto_tables)
    bench.connect("ebay")
    listed, fresh, wrong = bench.product(), bench.product("Two"), bench.product("x" * 81)
    bench.done("publish", "ebay", listed)
    sent = len(bench.web.seen)
    writes: list[str] = []
    moto_tables.client.meta.events.register(
        "before-call.dynamodb", lambda model, **_: writes.append(model.name), unique_id="plan"
    )
    ids = [listed.id, fresh.id, wrong.id, "prd_none"]
    found = bench.planner.plan(bench.tenant, "ebay", "publish", ids)
    moto_tables.client.meta.events.unregister("before-call.dynamodb", unique_id="plan")
    assert [each.outcome for each in found] == ["update", "create", "refused", "refused"]
    assert found[2].fields[0]["path"] == "title"
    # The pace of the seller is kept for what is asked, too; nothing else is written.
    assert set(writes) == {"GetItem", "UpdateItem"}
    asked = [seen for seen in bench.web.seen[sent:] if not seen.path.startswith("/identity/")]
    assert {seen.method for seen in asked} == {"GET"}


def test_statistics_count_how_each_action_type_ended(bench: Bench) -> None:
    bench.ebay.refused_titles["Odd coat"] = 25005
    bench.done("publish", "ebay", bench.product())
    bench.done("publish", "ebay", bench.product("Odd coat"))
    [day] = bench.statistics.of_day(bench.tenant, bench.clock().date().isoformat())
    assert (day.action_code, day.marketplace) == ("publish", "ebay")
    assert (day.completed, day.failed) == (1, 1)


# covers B-02
@pytest.mark.parametrize("total", sampled([100, limits.BATCH_PRODUCTS_MAX], quick=0, tested=1))
def test_products_of_a_batch_fail_for_themselves_alone_and_a_retry_runs_those(
    memory: Bench, total: int
) -> None:
    bench, odd = memory, 50
    failing = [number for number in range(total) if number % odd == 7]
    for number in failing:
        bench.ebay.refused_titles[f"Coat {number}"] = 25005
    ids = [bench.product(f"Coat {number}").id for number in range(total)]
    batch = _submit(bench, ids)
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert (view.status, view.progress_percent) == ("partially_failed", 100)
    counts = (view.total_count, view.completed_count, view.failed_count, view.pending_count)
    fine, failed_count = total - len(failing), len(failing)
    assert counts == (total, fine, failed_count, 0)
    jobs = {ref: bench.job(ref) for ref in _children(bench, batch)}
    failed = {ref for ref, job in jobs.items() if job.status == "failed"}
    assert {jobs[ref].payload["product_id"] for ref in failed} == {ids[n] for n in failing}
    assert len(bench.ebay.listings) == fine
    before = bench.ebay.calls["_publish"], bench.ebay.calls["_make_offer"]
    bench.ebay.refused_titles.clear()
    bench.clock.advance(1)
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.RETRY)
    bench.finish(batch)
    view = batch_view(bench.publishing.batch(bench.tenant, batch.job_id))
    assert (view.status, view.completed_count, view.failed_count) == ("completed", total, 0)
    assert {ref for ref in jobs if bench.job(ref).run == 2} == failed
    assert all(bench.job(ref) == job for ref, job in jobs.items() if ref not in failed)
    after = bench.ebay.calls["_publish"], bench.ebay.calls["_make_offer"]
    assert after == (before[0] + failed_count, before[1])
    skus = [bench.ebay.offers[offer]["sku"] for offer in bench.ebay.listings.values()]
    assert len(skus) == len(set(skus)) == total
