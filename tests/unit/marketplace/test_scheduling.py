"""Jobs with a scheduled time, and marketplaces that the seller has paused."""

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
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.unit.runtime.api import Answer
from tests.unit.served import Served

AHEAD = timedelta(days=20)


def _sent(world: MarketWorld, router: Any, path: str, at: datetime, **what: Any) -> Answer:
    wanted = {"marketplace": "ebay", "action_code": "publish", "publish_at": to_iso(at), **what}
    return Served(router, SimpleNamespace(publishing=world.publishing)).send("POST", path, wanted)


def _single(world: MarketWorld, at: datetime) -> Answer:
    return _sent(world, jobs, "/api/marketplace/jobs", at, product_id=world.product().id)


def _batch(world: MarketWorld, at: datetime) -> Answer:
    ids = [world.product(title).id for title in ("One", "Two")]
    return _sent(world, batches, "/api/batch-jobs", at, product_ids=ids)


# covers B-10
@pytest.mark.parametrize("submit", [_single, _batch])
def test_a_scheduled_job_begins_at_its_time_and_not_when_it_is_resumed(
    submit: Any, world: MarketWorld
) -> None:
    at = world.clock() + AHEAD
    accepted = submit(world, at).body
    assert accepted["publish_at"] == to_iso(at)
    job_id = accepted.get("job_id") or accepted["batch_id"]
    ref = JobRef(tenant=world.tenant, job_id=job_id)
    world.deliver()
    job = world.job(ref)
    assert (job.due_at, job.waiting_for, world.web.seen) == (at, "its scheduled time", [])
    assert job.expires_at is not None
    assert job.expires_at >= at + timedelta(seconds=limits.MARKETPLACE_PENDING_SECONDS)
    for move in (Transition.PAUSE, Transition.RESUME):
        world.control.move(ref, move)
    world.deliver()
    assert world.clock() >= at or world.web.seen == []  # an execution waits for that time, too
    assert world.finish(ref).status == "completed"
    assert world.clock() >= at
    assert all(task.started_at >= at for task in _tasks(world) if task.started_at)
    assert len(world.ebay.listings) == (1 if submit is _single else 2)


# covers B-10
@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(days=30, seconds=1)])
@pytest.mark.parametrize("submit", [_single, _batch])
def test_a_time_that_is_past_or_too_far_is_refused(
    submit: Any, ahead: timedelta, world: MarketWorld
) -> None:
    refusal = submit(world, world.clock() + ahead)
    fields = refusal.body["details"]["fields"]
    assert (refusal.status, [each["path"] for each in fields]) == (422, ["publish_at"])
    assert refusal.body["error"] == "publish_at must be within the next 30 days"


def _tasks(world: MarketWorld) -> list[Task]:
    found = world.publishing.page(world.tenant, None, None, None, None, 100).items
    return [task for each in found for task in world.tasks.of_job(world.tenant, each.job.id)]


def _pause(world: MarketWorld, is_paused: bool, marketplace: str = "ebay") -> dict[str, Any]:
    api = Served(connections, SimpleNamespace(preferences=world.preferring))
    path = f"/api/marketplace/{marketplace}/preferences"
    changed = api.send("PATCH", path, {"is_paused": is_paused}, tenant=world.tenant).body
    assert api.send("GET", path, tenant=world.tenant).body == changed
    return changed


# covers B-10
def test_on_a_paused_marketplace_jobs_wait_but_sales_are_followed(world: MarketWorld) -> None:
    product, listed = world.product("One"), world.product("Two", quantity=3)
    world.done("publish", "ebay", listed)
    world.done("publish", "etsy", listed)
    assert _pause(world, True)["paused_at"] == to_iso(world.clock())
    writes, begun = world.ebay.calls["_put_item"], world.clock()
    refs = []
    for action, each, world.segment_steps in (("publish", product, 10), ("update", listed, 1)):
        refs.append(world.submit(action, "ebay", world.edit(each, title="Three")))
        world.deliver()
    assert (world.clock() - begun).total_seconds() > limits.MARKETPLACE_PENDING_SECONDS
    waits = {world.job(ref).waiting_for for ref in refs}
    assert waits == {"the seller, who paused eBay"}
    assert world.ebay.calls["_put_item"] == writes
    world.etsy.sell(listed.sku, 1)
    world.done("orders", "etsy")
    world.deliver()
    assert world.ebay.items[listed.sku]["availability"]["shipToLocationAvailability"] == {
        "quantity": 2
    }
    assert _pause(world, False)["paused_at"] is None
    assert [world.finish(ref).status for ref in refs] == ["completed"] * 2
    assert len(world.ebay.live(product.sku)) == 1


@pytest.mark.parametrize(
    ("marketplace", "call"), [("ebay", "POST /sell/inventory/v1/offer"), ("etsy", "PUT /v3")]
)
def test_a_job_that_is_under_way_when_the_seller_pauses_lists_nothing_more(
    marketplace: str, call: str, world: MarketWorld
) -> None:
    ref = world.submit("publish", marketplace, world.product())

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith(call):
            _pause(world, True, marketplace)
        return serve()

    world.web.around = around
    assert world.once(ref).waiting_for == f"the seller, who paused {PLATFORMS[marketplace].title}"
    states = {each["state"] for each in world.etsy.listings.values()}
    assert (states, world.ebay.listings) == ({"draft"} if marketplace == "etsy" else set(), {})
    world.web.around = lambda _, serve: serve()
    _pause(world, False, marketplace)
    assert world.finish(ref).status == "completed"
    assert len(world.etsy.listings) + len(world.ebay.listings) == 1


def test_another_marketplace_isnt_paused_and_an_unknown_one_isnt_there(world: MarketWorld) -> None:
    _pause(world, True)
    assert world.done("publish", "etsy", world.product()).status == "completed"
    api = Served(connections, SimpleNamespace(preferences=world.preferring))
    assert api.send("GET", "/api/marketplace/amazon/preferences").status == 404
