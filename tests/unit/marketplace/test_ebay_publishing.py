"""Publishing, updating and ending on eBay."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Job, JobEvent, JobEventKind, JobRef, JobStatus, Transition
from spinneret.kernel.errors import ValidationFailed
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.publishing.views import job_view, job_with_tasks
from tests.markets.answers import EBAY_SHORT
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.sampling import sampled


def _record(world: MarketWorld, product: Product) -> Listing:
    found = world.listings.get(world.tenant, product.id, "ebay")
    assert found is not None
    return found


def _failed_task(world: MarketWorld, job: Job) -> Any:
    [task] = [each for each in world.tasks.of_job(world.tenant, job.id) if each.error_message]
    return task


# covers B-04
def test_a_product_is_listed_step_by_step(world: MarketWorld) -> None:
    product = world.product()
    ref = world.submit("publish", "ebay", product)
    job = world.finish(ref)
    assert job.status == "completed", job.last_error
    [listing] = world.ebay.live(product.sku)
    assert job.result is not None
    assert job.result["ebay_id"] == listing
    assert job.result["url"] == f"https://www.ebay.de/itm/{listing}"
    tasks = world.tasks.of_job(world.tenant, ref.job_id)
    assert {task.status for task in tasks} == {"success"}
    assert [task.key for task in tasks] == [
        *("validate", "account", "category", "image-1", "image-2"),
        *("item", "offer", "publish", "save"),
    ]
    assert (tasks[3].http_method, tasks[3].payload["photo_order"]) == ("POST", 1)
    assert (_record(world, product).state, _record(world, product).external_id) == (
        "active",
        listing,
    )


def test_a_product_that_is_published_again_keeps_its_listing(world: MarketWorld) -> None:
    product = world.product()
    first = world.done("publish", "ebay", product)
    edited = world.edit(product, price=9900)
    again = world.done("publish", "ebay", edited)
    assert again.id != first.id
    assert first.result is not None
    assert world.ebay.live(product.sku) == [first.result["ebay_id"]]
    [offer] = world.ebay.offers.values()
    assert offer["pricingSummary"]["price"]["value"] == "99.00"


def test_the_same_publishing_that_is_under_way_is_answered(world: MarketWorld) -> None:
    product = world.product()
    assert world.submit("publish", "ebay", product) == world.submit("publish", "ebay", product)


@pytest.mark.parametrize("call", ["/offer", "/publish"])
def test_an_answer_that_is_lost_is_found_again(call: str, world: MarketWorld) -> None:
    other = _again(world)
    other.done("publish", "ebay", other.product())
    [at] = [
        number
        for number, seen in enumerate(other.web.seen, start=1)
        if seen.method == "POST" and seen.path.endswith(call)
    ]
    product = world.product()
    world.web.lost.add(at)
    ref = world.submit("publish", "ebay", product)
    world.once(ref)
    assert world.statuses(ref).count("timeout") == 1
    assert world.finish(ref).status == "completed"
    assert len(world.ebay.live(product.sku)) == 1
    assert len(world.ebay.offers) == 1


def _again(world: MarketWorld) -> MarketWorld:
    fresh = MarketWorld(world.stores, tenant="other")
    fresh.connect("ebay")
    return fresh


def test_what_others_set_on_an_item_is_sent_again(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    standing = world.ebay.items[product.sku]
    standing["product"]["subtitle"] = "set by hand"
    standing["packageWeightAndSize"] = {"packageType": "LETTER"}
    world.done("update", "ebay", world.edit(product, title="Warm coat", quantity=3))
    after = world.ebay.items[product.sku]
    assert after["product"]["subtitle"] == "set by hand"
    assert after["packageWeightAndSize"] == {"packageType": "LETTER"}
    assert after["product"]["ean"] == ["Does not apply"]
    assert after["availability"]["shipToLocationAvailability"]["quantity"] == 3


def test_what_others_set_on_an_offer_is_sent_again(world: MarketWorld) -> None:
    product = world.product(price=2000)
    world.done("publish", "ebay", product)
    [offer] = world.ebay.offers.values()
    offer["listingPolicies"]["bestOfferTerms"] = {"bestOfferEnabled": True}
    offer["pricingSummary"]["minimumAdvertisedPrice"] = {"value": "15.0", "currency": "EUR"}
    offer["pricingSummary"]["price"]["value"] = "20.0"  # eBay's notation of 20.00
    synced = world.done("sync", "ebay", product)
    assert synced.result is not None
    assert synced.result["drift"] == []
    world.done("update", "ebay", product)
    assert world.ebay.calls["_put_offer"] == world.ebay.calls["_update_stock"] == 0
    world.done("update", "ebay", world.edit(product, price=2100, description="Worn once."))
    [offer] = world.ebay.offers.values()
    assert offer["listingDescription"] == "Worn once."
    assert offer["listingPolicies"]["bestOfferTerms"] == {"bestOfferEnabled": True}
    assert offer["pricingSummary"] == {
        "price": {"value": "21.00", "currency": "EUR"},
        "minimumAdvertisedPrice": {"value": "15.0", "currency": "EUR"},
    }


def test_an_update_without_a_change_sends_nothing(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    puts = world.ebay.calls["_put_item"], world.ebay.calls["_put_offer"]
    assert world.done("update", "ebay", product).status == "completed"
    assert (world.ebay.calls["_put_item"], world.ebay.calls["_put_offer"]) == puts


def test_an_offer_that_is_there_is_adopted(world: MarketWorld) -> None:
    product = world.product()
    world.ebay.items[product.sku] = {"product": {}}
    world.ebay.offers["off-old"] = {
        "offerId": "off-old",
        "sku": product.sku,
        "marketplaceId": "EBAY_DE",
        "format": "FIXED_PRICE",
        "status": "UNPUBLISHED",
    }
    world.done("publish", "ebay", product)
    assert list(world.ebay.offers) == ["off-old"]
    assert _record(world, product).reference == "off-old"


# covers B-06
def test_a_refusal_names_field_cause_and_fix(world: MarketWorld) -> None:
    world.ebay.refused_titles["Odd coat"] = 25005
    job = world.done("publish", "ebay", world.product("Odd coat"))
    assert job.status == "failed"
    assert job.last_error is not None
    assert job.last_error.code == "MARKETPLACE_REFUSED"
    [field] = job.last_error.details["fields"]
    assert (field["id"], field["path"]) == ("25005", "category_id")
    assert field["hint"] == "choose a leaf category"
    assert _failed_task(world, job).status == "failed"


# covers B-04
def test_a_retry_runs_only_what_failed(world: MarketWorld) -> None:
    world.ebay.refused_titles["Odd coat"] = 25005
    job = world.done("publish", "ebay", world.product("Odd coat"))
    uploads, offers = world.ebay.calls["_make_image"], world.ebay.calls["_make_offer"]
    world.ebay.refused_titles.clear()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    after = world.finish(job.ref)
    assert (after.status, after.run) == ("completed", 2)
    assert (world.ebay.calls["_make_image"], world.ebay.calls["_make_offer"]) == (uploads, offers)
    counts = {task.key: task.retry_count for task in world.tasks.of_job(world.tenant, job.id)}
    assert {key for key, count in counts.items() if count} == {"publish"}


def test_a_product_that_changed_between_runs_is_done_anew(world: MarketWorld) -> None:
    product = world.product("Odd coat")
    world.ebay.refused_titles["Odd coat"] = 25005
    job = world.done("publish", "ebay", product)
    world.edit(product, title="Even coat")
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    assert world.ebay.items[product.sku]["product"]["title"] == "Even coat"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": "x" * 81}, "title"),
        ({"images": ()}, "images"),
        ({"images": ("http://images.example/a.jpg",)}, "images.0"),
        ({"quantity": 0}, "quantity"),
        ({"attributes": {"brand": "zara"}}, "attributes.condition"),
        ({"currency": "JPY"}, "currency"),
    ],
)
def test_what_ebay_would_refuse_is_refused_at_submission(
    changes: dict[str, Any], field: str, world: MarketWorld
) -> None:
    product = world.product(**changes)
    with pytest.raises(ValidationFailed) as refusal:
        world.submit("publish", "ebay", product)
    assert [each["path"] for each in refusal.value.details["fields"]] == [field]
    assert world.web.seen == []


def test_a_product_that_no_longer_fits_fails_its_job_before_any_call(world: MarketWorld) -> None:
    product = world.product()
    ref = world.submit("publish", "ebay", product)
    world.edit(product, quantity=0)
    job = world.finish(ref)
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == ("failed", "VALIDATION_ERROR")
    assert [each["path"] for each in job.last_error.details["fields"]] == ["quantity"]
    assert world.web.seen == []


def test_missing_aspects_and_policies_are_the_sellers_to_add(world: MarketWorld) -> None:
    world.ebay.required_aspects = ["Brand", "Vintage"]
    job = world.done("publish", "ebay", world.product())
    task = _failed_task(world, job)
    assert (task.reason, task.error_details["fields"][0]["path"]) == (
        "needs_input",
        "attributes.Vintage",
    )
    other = _again(world)
    other.ebay.policies["return"] = []
    other.ebay.locations = []
    task = _failed_task(other, other.done("publish", "ebay", other.product()))
    assert task.reason == "needs_input"
    assert [each["path"] for each in task.error_details["fields"]] == ["policy", "location"]


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_retry_uses_what_the_seller_has_changed_in_the_account(
    marketplace: str, world: MarketWorld
) -> None:
    world.done("publish", marketplace, world.product("First"))  # caches the settings of the account
    world.ebay.policies["payment"], world.etsy.profiles = ["pay-2"], [32]
    job = world.done("publish", marketplace, world.product())
    assert job.status == "failed"
    world.clock.advance(60)
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    job = world.finish(job.ref)
    assert job.status == "completed", job.last_error


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_retry_lists_the_product_as_it_is_though_another_job_changed_the_draft(
    marketplace: str, world: MarketWorld
) -> None:
    no = StubResponse(400, {"error": "no", "errors": [{"errorId": 25005}]})

    def refusing(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        is_last = name.endswith("/publish") or b"state=active" in world.web.seen[-1].body
        return no if is_last else serve()

    world.web.around = refusing
    product = world.product("Coat")
    job = world.done("publish", marketplace, product)
    world.done("publish", marketplace, world.edit(product, title="Scarf", price=5000))
    world.edit(product, title="Coat", price=8900)
    world.web.around = lambda _, serve: serve()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    assert {each["product"]["title"] for each in world.ebay.items.values()} <= {"Coat"}
    shown = {(each["title"], each["price"]["amount"]) for each in world.etsy.listings.values()}
    assert shown <= {("Coat", 8900)}


def test_an_offer_that_the_seller_deleted_is_made_again_after_a_sync(world: MarketWorld) -> None:
    product = world.product()
    world.ebay.refused_titles[product.content.title] = 25005
    assert world.done("publish", "ebay", product).status == "failed"
    world.ebay.refused_titles.clear()
    world.ebay.offers.clear()
    world.clock.advance(600)
    job = world.done("publish", "ebay", product)
    assert job.last_error is not None
    assert job.last_error.details["fields"][0]["hint"] == "sync the product"
    assert world.done("sync", "ebay", product).result == {"state": "ended"}
    assert world.done("publish", "ebay", product).status == "completed"
    assert len(world.ebay.live(product.sku)) == 1


def test_an_image_that_ebay_refuses_is_uploaded_again(world: MarketWorld) -> None:
    """The seller may have replaced the file, and eBay's copies expire if no listing shows them."""
    world.ebay.refused_images = 1
    job = world.done("publish", "ebay", world.product())
    assert job.last_error is not None
    assert job.last_error.details["fields"][0]["path"] == "images"
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    [item] = world.ebay.items.values()
    assert item["product"]["imageUrls"] == list(world.ebay.images.values())[-2:]
    assert len(world.ebay.images) == 4


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_an_update_of_a_listing_that_has_ended_there_says_so(
    marketplace: str, world: MarketWorld
) -> None:
    product = world.product()
    world.done("publish", marketplace, product)
    world.clock.advance(600)
    for offer in world.ebay.offers.values():
        offer["status"] = "UNPUBLISHED"
    for listing in world.etsy.listings.values():
        listing["state"] = "expired"
    job = world.done("update", marketplace, world.edit(product, title="Warm coat"))
    assert job.last_error is not None
    assert job.last_error.code == "CONFLICT"
    assert "publish" in job.last_error.message


def test_an_account_that_isnt_ready_is_asked_about_once_a_minute(memory: MarketWorld) -> None:
    world = memory
    world.ebay.policies["return"] = []
    ids = [world.product(f"Coat {number}").id for number in range(12)]
    batch = world.finish(world.submit_batch("publish", "ebay", ids))
    assert batch.result is not None
    assert batch.result["failed_count"] == 12
    assert world.ebay.calls["_programs"] <= 5  # at most one per concurrent job
    [task] = {
        (task.reason, task.error_details["fields"][0]["path"])
        for ref in world.store.children(batch.ref, list(JobStatus), None, 50).items
        for task in world.tasks.of_job(world.tenant, ref.job_id)
        if task.error_message
    }
    assert task == ("needs_input", "policy")
    world.ebay.policies["return"] = ["back-1"]
    world.clock.advance(60)
    world.publishing.move_batch(world.tenant, batch.id, Transition.RETRY)
    again = world.finish(batch.ref)
    assert (again.status, len(world.ebay.listings)) == ("completed", 12)


def test_ending_keeps_the_offer_and_a_new_publishing_makes_another_listing(
    world: MarketWorld,
) -> None:
    product = world.product()
    first = world.done("publish", "ebay", product)
    assert world.done("delete", "ebay", product).status == "completed"
    assert world.ebay.live(product.sku) == []
    again = world.done("publish", "ebay", product)
    assert first.result is not None
    assert again.result is not None
    assert again.result["ebay_id"] != first.result["ebay_id"]
    assert len(world.ebay.offers) == 1


def test_ending_what_isnt_listed_does_nothing(world: MarketWorld) -> None:
    product = world.product()
    assert world.done("delete", "ebay", product).status == "completed"
    assert world.ebay.calls["_withdraw"] == 0


def test_a_sync_reports_what_differs_and_sees_an_ended_listing(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    [offer] = world.ebay.offers.values()
    offer["pricingSummary"]["price"]["value"] = "80.00"
    world.done("sync", "ebay", product)
    [drift] = _record(world, product).drift
    assert (drift.field, drift.ours, drift.theirs) == ("price", "89.00", "80.00")
    offer["status"] = "UNPUBLISHED"
    world.done("sync", "ebay", product)
    assert (_record(world, product).state, _record(world, product).generation) == ("ended", 2)


def test_a_listing_made_elsewhere_is_linked_by_its_sku(world: MarketWorld) -> None:
    product = world.product()
    other = world.product("Another")
    world.done("publish", "ebay", other)
    [offer] = world.ebay.offers.values()
    offer["sku"] = product.sku
    world.done("link_product", "ebay", other, external_id=None)
    world.ebay.items[product.sku] = {"groupIds": ["coats"]}
    job = world.done("link_product", "ebay", product)
    assert job.last_error is not None
    assert "has variations" in job.last_error.message
    del world.ebay.items[product.sku]
    job = world.done("link_product", "ebay", product)
    assert job.result is not None
    assert job.result["state"] == "active"
    assert _record(world, product).reference == offer["offerId"]


# covers B-06
@pytest.mark.parametrize(("said", "seconds"), [("120", 120), ("0", 60)])
def test_a_429_waits_uncharged_for_as_long_as_ebay_asks(
    said: str, seconds: int, world: MarketWorld
) -> None:
    product = world.product()
    world.web.instead[1] = StubResponse(429, {}, {"Retry-After": said})
    ref = world.submit("publish", "ebay", product)
    waiting = world.once(ref)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert (waiting.due_at - world.clock()).total_seconds() == seconds
    assert world.statuses(ref)[1] == "pending"
    world.clock.advance(seconds / 2)
    assert world.control.get(ref).waiting_for == "the limits of ebay"
    assert world.finish(ref).status == "completed"


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ({"Retry-After": "7200"}, 7200),
        ({"Retry-After": "Fri, 02 Jan 2026 14:30:00 GMT"}, 9000),
    ],
)
def test_a_time_that_ebay_names_is_waited_out_however_far(
    said: dict[str, str], seconds: int, world: MarketWorld
) -> None:
    first, second = world.product("One"), world.product("Two")
    world.web.instead[1] = StubResponse(429, {}, said)
    ref = world.submit("publish", "ebay", first)
    named = world.once(ref).due_at
    assert (named - world.clock()).total_seconds() == seconds
    held = world.submit("publish", "ebay", second)  # makes no call before that time
    assert world.once(held).due_at == named
    assert world.finish(ref).status == world.finish(held).status == "completed"


def test_a_time_beyond_a_jobs_own_is_said_as_it_expires(world: MarketWorld) -> None:
    world.web.instead[1] = StubResponse(429, {}, {"Retry-After": str(8 * 24 * 3600)})
    job = world.done("publish", "ebay", world.product())
    assert job.status == "expired", job.last_error
    assert job.last_error is not None
    assert (
        job.last_error.message == "no slot in time: the limits of ebay, until 2026-01-10 12:00 UTC"
    )


@pytest.mark.parametrize("said", sampled([{"Retry-After": "30"}, {"Retry-After": "soon"}, {}]))
@pytest.mark.heavy
def test_short_waits_that_come_again_and_again_end_with_the_hour(
    said: dict[str, str], memory: MarketWorld
) -> None:
    world, begun = memory, memory.clock()
    world.web.around = lambda name, serve: (
        serve() if "token" in name else StubResponse(429, {}, said)
    )
    job = world.finish(world.submit("publish", "ebay", world.product()), most=300)
    assert job.status == "expired"
    assert (world.clock() - begun).total_seconds() < 2.1 * 3600  # 1 h pending, 1 h final look


# covers B-05
def test_failures_end_as_often_as_the_action_type_says(world: MarketWorld) -> None:
    product = world.product()
    world.web.instead.update(dict.fromkeys(range(1, 99), StubResponse(503)))
    job = world.done("publish", "ebay", product)
    assert job.last_error is not None
    assert job.last_error.message.startswith("Max retries (3) exceeded")
    assert len(world.web.seen) == 3
    ended = world.done("delete", "ebay", product)
    assert ended.last_error is not None
    assert ended.last_error.message.startswith("Max retries (1) exceeded")


def test_a_task_that_fails_unexpectedly_is_shown_as_failed(
    world: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("offerId")

    monkeypatch.setattr(EbayApi, "create_offer", fail)
    job = world.done("publish", "ebay", world.product())
    tasks = world.publishing.get(world.tenant, job.id).tasks
    shown = {task.key: (task.status.value, task.error_message) for task in tasks}
    assert shown["offer"] == ("failed", job.last_error and job.last_error.message)
    assert shown["publish"] == ("cancelled", None)


def test_the_percentage_never_falls_on_retry(world: MarketWorld) -> None:
    product = world.product()
    world.ebay.refused_titles["Wool coat"] = 25005
    job = world.done("publish", "ebay", product)
    failed = _percent(world, job.ref)
    world.ebay.refused_titles.clear()
    world.edit(product, price=7500)
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    again = _percent(world, job.ref)
    world.web.instead[len(world.web.seen) + 1] = StubResponse(503)
    world.once(job.ref)
    retried = _percent(world, job.ref)
    assert world.finish(job.ref).status == "completed"
    assert 50 < min(failed) == max(failed) <= min(again) <= min(retried)
    assert _percent(world, job.ref) == {100}


def _percent(world: MarketWorld, ref: JobRef) -> set[int]:
    """Return the percentages that the list of jobs and the job's own view show."""
    [listed] = world.publishing.page(world.tenant, "ebay", None, None, None, 1).items
    by_itself = job_with_tasks(world.publishing.get(world.tenant, ref.job_id))
    return {job_view(listed).progress, by_itself.progress}


def test_a_link_by_id_links_or_refuses(world: MarketWorld) -> None:
    product = world.product()
    other = world.product("Another")
    world.done("publish", "ebay", other)
    [(listing_id, offer_id)] = world.ebay.listings.items()
    world.done("link_product", "ebay", other, external_id=None)
    for given in ({"external_id": listing_id}, {"external_id": "4711"}, {}):
        job = world.done("link_product", "ebay", product, **given)
        assert job.last_error is not None
        assert job.last_error.code == "NEEDS_INPUT"
    world.ebay.offers[offer_id]["sku"] = product.sku
    job = world.done("link_product", "ebay", product, external_id="4711")
    assert job.status == "failed"
    job = world.done("link_product", "ebay", product, external_id=listing_id)
    assert job.result is not None
    assert job.result["linked"] == listing_id
    assert _record(world, product).external_id == listing_id
    job = world.done("link_product", "ebay", product, external_id=None)
    assert (job.result, _record(world, product).external_id) == ({"linked": None}, None)


def test_a_listing_that_doesnt_show_yet_isnt_ended(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    until = world.clock() + timedelta(seconds=60)
    world.web.around = lambda name, serve: (
        EBAY_SHORT["25713"] if "/offer" in name and world.clock() < until else serve()
    )
    assert world.done("sync", "ebay", product).result["state"] == "active"
    assert world.done("delete", "ebay", product).status == "completed"
    assert world.ebay.listings == {}


@pytest.mark.parametrize("minutes", [0, -4])
def test_a_message_is_sent_once(minutes: int, world: MarketWorld) -> None:
    world.ebay.clock = lambda: world.clock() + timedelta(minutes=minutes)
    ref = world.submit("message", "ebay", None, text="It ships today", conversation_id="c1")
    world.web.lost.add(1)
    world.finish(ref)
    world.clock.advance(60)
    world.publishing.move(world.tenant, ref.job_id, Transition.RETRY)
    assert world.finish(ref).status == "completed"
    assert [each["messageBody"] for each in world.ebay.messages] == ["It ships today"]


def test_a_cancelled_job_leaves_its_call_in_doubt_and_the_next_one_looks(
    world: MarketWorld,
) -> None:
    product = world.product()
    ref = world.submit("publish", "ebay", product)
    _cancel_at(world, ref, "/publish")
    seen = world.publishing.get(world.tenant, ref.job_id)
    states = {task.key: (task.status.value, task.reason) for task in seen.tasks}
    assert states["publish"] == ("cancelled", "reconciling")
    assert states["save"] == ("cancelled", None)
    assert world.done("publish", "ebay", product).status == "completed"
    assert len(world.ebay.live(product.sku)) == 1


def _cancel_at(world: MarketWorld, ref: JobRef, path: str) -> None:
    """Run the job once; cancel it while the call of `path` is in progress."""

    def around(name: str, serve: Any) -> StubResponse:
        said: StubResponse = serve()
        if name.endswith(path):
            world.control.move(ref, Transition.CANCEL)
        return said

    world.web.around = around
    world.once(ref)
    world.web.around = lambda _, serve: serve()
    assert world.job(ref).status == "cancelled"


def test_a_listing_stays_the_products_when_the_product_moves_to_another_site(
    world: MarketWorld,
) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    [listing_id] = world.ebay.listings
    moved = world.edit(product, currency="GBP")
    synced = world.done("sync", "ebay", moved)
    assert synced.result is not None
    assert (synced.result["state"], synced.result["ebay_id"]) == ("active", listing_id)
    refused = world.done("publish", "ebay", moved)
    assert refused.last_error is not None
    assert refused.last_error.code == "NEEDS_INPUT"
    assert list(world.ebay.listings) == [listing_id]
    assert world.done("delete", "ebay", moved).status == "completed"
    assert world.done("publish", "ebay", moved).status == "completed"
    assert len(world.ebay.listings) == 1


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_listing_that_was_made_after_a_delete_had_looked_stays_on_record(
    marketplace: str, world: MarketWorld
) -> None:
    product = world.product()
    ref = world.submit("delete", marketplace, product)

    def publish_meanwhile(job: Job, events: Sequence[JobEvent]) -> None:
        done = [each.message for each in events if each.kind is JobEventKind.STEP_DONE]
        if job.ref == ref and {"End listing", "Delete listing"} & {*done}:
            assert world.done("publish", marketplace, product).status == "completed"

    world.store.listen(publish_meanwhile)
    assert world.finish(ref).status == "completed"
    listing = world.listings.get(world.tenant, product.id, marketplace)
    assert listing is not None
    assert (listing.state, listing.generation) == ("active", 1)


def test_what_is_ended_while_it_is_published_is_not_published(world: MarketWorld) -> None:
    product = world.product()
    ref = world.submit("publish", "ebay", product)

    def delete_meanwhile(job: Job, events: Sequence[JobEvent]) -> None:
        done = [each.message for each in events if each.kind is JobEventKind.STEP_DONE]
        if job.ref == ref and "Create offer" in done:
            assert world.done("delete", "ebay", product).status == "completed"

    world.store.listen(delete_meanwhile)
    job = world.finish(ref)
    assert job.last_error is not None
    assert (job.last_error.code, world.ebay.listings) == ("CONFLICT", {})
