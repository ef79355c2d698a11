"""Jobs that begin at a time, and marketplaces on which the seller pauses."""

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from marketplace.batches_routes import router as batches
from marketplace.connections_routes import router as connections
from marketplace.marketplace_routes import router as jobs
from spinneret.jobs.models import JobRef, Transition
from spinneret.kernel.clock import to_iso
from spinneret.marketplace import limits
from spinneret.marketplace.registry import PLATFORMS
from spinneret.marketplace.tasks.models import Task
from tests.markets.bench import Bench
from tests.markets.web import StubResponse
from tests.unit.runtime.api import Answer
from tests.unit.served import Served

AHEAD = timedelta(days=20)


def _sent(bench: Bench, router: Any, path: str, at: datetime, **what: Any) -> Answer:
    wanted = {"marketplace": "ebay", "action_code": "publish", "publish_at": to_iso(at), **what}
    return Served(router, SimpleNamespace(publishing=bench.publishing)).send("POST", path, wanted)


def _single(bench: Bench, at: datetime) -> Answer:
    return _sent(bench, jobs, "/api/marketplace/jobs", at, product_id=bench.product().id)


def _batch(bench: Bench, at: datetime) -> Answer:
    ids = [bench.product(title).id for title in ("One", "Two")]
    return _sent(bench, batches, "/api/batch-jobs", at, product_ids=ids)


# covers B-10
@pytest.mark.parametrize("submit", [_single, _batch])
def test_a_scheduled_job_begins_at_its_time_and_not_when_it_is_resumed(
    submit: Any, bench: Bench
) -> None:
    at = bench.clock() + AHEAD
    accepted = submit(bench, at).body
    assert accepted["publish_at"] == to_iso(at)
    job_id = accepted.get("job_id") or accepted["batch_id"]
    ref = JobRef(tenant=bench.tenant, job_id=job_id)
    bench.deliver()
    job = bench.job(ref)
    assert (job.due_at, job.waiting_for, bench.web.seen) == (at, "its scheduled time", [])
    assert job.expires_at is not None
    assert job.expires_at >= at + timedelta(seconds=limits.MARKETPLACE_PENDING_SECONDS)
    for move in (Transition.PAUSE, Transition.RESUME):
        bench.control.move(ref, move)
    bench.deliver()
    assert bench.clock() >= at or bench.web.seen == []  # an execution waits, too
    assert bench.finish(ref).status == "completed"
    assert bench.clock() >= at
    assert all(task.started_at >= at for task in _tasks(bench) if task.started_at)
    assert len(bench.ebay.listings) == (1 if submit is _single else 2)


# covers B-10
@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=30, seconds=1)])
@pytest.mark.parametrize("submit", [_single, _batch])
def test_a_time_that_is_past_or_too_far_is_refused(
    submit: Any, ahead: timedelta, bench: Bench
) -> None:
    refusal = submit(bench, bench.clock() + ahead)
    fields = refusal.body["details"]["fields"]
    assert (refusal.status, [each["path"] for each in fields]) == (422, ["publish_at"])
    assert refusal.body["error"] == "publish_at must be within the next 30 days"


def _tasks(bench: Bench) -> list[Task]:
    found = bench.publishing.page(bench.tenant, None, None, None, None, 100).items
    return [task for each in found for task in bench.tasks.of_job(bench.tenant, each.job.id)]


def _pause(bench: Bench, is_paused: bool, marketplace: str = "ebay") -> dict[str, Any]:
    api = Served(connections, SimpleNamespace(preferences=bench.preferring))
    path = f"/api/marketplace/{marketplace}/preferences"
    changed = api.send("PATCH", path, {"is_paused": is_paused}, tenant=bench.tenant).body
    assert api.send("GET", path, tenant=bench.tenant).body == changed
    return changed


# covers B-10
def test_on_a_paused_marketplace_jobs_wait_but_sales_are_followed(bench: Bench) -> None:
    product, listed = bench.product("One"), bench.product("Two", quantity=3)
    bench.done("publish", "ebay", listed)
    bench.done("publish", "etsy", listed)
    assert _pause(bench, True)["paused_at"] == to_iso(bench.clock())
    writes, begun = bench.ebay.calls["_put_item"], bench.clock()
    refs = []
    for action, each, bench.segment_steps in (("publish", product, 10), ("update", listed, 1)):
        refs.append(bench.submit(action, "ebay", bench.edit(each, title="Three")))
        bench.deliver()
    assert (bench.clock() - begun).total_seconds() > limits.MARKETPLACE_PENDING_SECONDS
    waits = {bench.job(ref).waiting_for for ref in refs}
    assert waits == {"the seller, who paused eBay"}
    assert bench.ebay.calls["_put_item"] == writes
    bench.etsy.sell(listed.sku, 1)
    bench.done("orders", "etsy")
    bench.deliver()
    assert bench.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"] == {
        "quantity": 2
    }
    assert _pause(bench, False)["paused_at"] is None
    assert [bench.finish(ref).status for ref in refs] == ["completed"] * 2
    assert len(bench.ebay.live(product.sku)) == 1


@pytest.mark.parametrize(
    ("marketplace", "call"), [("ebay", "POST /sell/inventory/v1/offer"), ("etsy", "PUT /v3")]
)
def test_a_job_that_is_under_way_when_the_seller_pauses_lists_nothing_more(
    marketplace: str, call: str, bench: Bench
) -> None:
    ref = bench.submit("publish", marketplace, bench.product())

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith(call):
            _pause(bench, True, marketplace)
        return serve()

    bench.web.around = around
    assert bench.once(ref).waiting_for == f"the seller, who paused {PLATFORMS[marketplace].title}"
    states = {each["state"] for each in bench.etsy.listings.values()}
    assert (states, bench.ebay.listings) == ({"draft"} if marketplace == "etsy" else set(), {})
    bench.web.around = lambda _, serve: serve()
    _pause(bench, False, marketplace)
    assert bench.finish(ref).status == "completed"
    assert len(bench.etsy.listings) + len(bench.ebay.listings) == 1


def test_another_marketplace_isnt_paused_and_an_unknown_one_isnt_there(bench: Bench) -> None:
    _pause(bench, True)
    assert bench.done("publish", "etsy", bench.product()).status == "completed"
    api = Served(connections, SimpleNamespace(preferences=bench.preferring))
    assert api.send("GET", "/api/marketplace/amazon/preferences").status == 404
