"""Publishing, updating and ending on Etsy."""

import itertools
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.jobs.models import Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from tests.fakes.effects import FakeEffectStore
from tests.markets.etsy import SHOP
from tests.markets.web import RecordedRequest, StubResponse
from tests.markets.world import IMAGES, SECONDS, MarketWorld


# covers B-06
def test_a_product_is_listed_with_its_images_in_order(world: MarketWorld) -> None:
    product = world.product()
    job = world.done("publish", "etsy", product)
    assert job.status == "completed", job.last_error
    [(key, listing)] = world.etsy.listings.items()
    assert (listing["state"], listing["taxonomy_id"]) == ("active", 1837)
    assert [each["alt_text"] for each in world.etsy.images[key]] == [
        "Wool coat (1/2)",
        "Wool coat (2/2)",
    ]
    [made] = world.etsy.inventories[key]["products"]
    assert (made["sku"], made["offerings"][0]["price"]["amount"]) == (product.sku, 8900)
    assert job.result is not None
    assert job.result["etsy_id"] == key


@pytest.mark.parametrize("visible_after", [0.0, 90.0])
def test_a_draft_whose_answer_was_lost_is_found_and_not_made_again(
    visible_after: float, world: MarketWorld
) -> None:
    world.etsy.visible_after = visible_after
    world.web.lost.add(4)  # creation of the draft, after shop, profiles, states
    job = world.done("publish", "etsy", world.product())
    assert job.status == "completed"
    assert len(world.etsy.listings) == 1


def test_a_draft_that_was_never_made_is_made(world: MarketWorld) -> None:
    world.web.instead[4] = StubResponse(503)
    assert world.done("publish", "etsy", world.product()).status == "completed"
    assert len(world.etsy.listings) == 1


def test_a_call_is_not_sent_by_a_process_that_was_stopped_just_before(
    world: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, calls = world.stores.rate_limiter.take, itertools.count(1)

    def stopped(*given: Any) -> datetime:
        if next(calls) == 4:  # creation of the draft, after shop, profiles, states
            world.remaining = 20.0
        return take(*given)

    monkeypatch.setattr(world.stores.rate_limiter, "take", stopped)
    ref = world.submit("publish", "etsy", world.product())
    assert world.once(ref).status == "pending"
    assert not world.etsy.listings
    world.remaining = SECONDS
    assert world.finish(ref).status == "completed"
    assert len(world.etsy.listings) == 1


def test_several_that_may_be_it_are_the_sellers_to_tell_apart(world: MarketWorld) -> None:
    world.web.lost.add(4)
    world.etsy.visible_after = 0
    product = world.product()
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    [listing] = world.etsy.listings.values()
    twin = {**listing, "listing_id": 1}
    world.etsy.listings["1"] = twin
    job = world.finish(ref)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert len(world.etsy.listings) == 2
    linked = world.done("link_product", "etsy", product, external_id=str(listing["listing_id"]))
    assert linked.status == "completed"


def test_a_message_is_unsupported_and_says_so(world: MarketWorld) -> None:
    ref = world.submit("message", "etsy", None, text="hello")
    job = world.finish(ref)
    [task] = world.tasks.of_job(world.tenant, job.id)
    assert job.last_error is not None
    assert (job.last_error.code, task.reason) == ("UNSUPPORTED", "unsupported")


def test_an_update_changes_fields_and_inventory_and_leaves_images(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    uploads = world.etsy.calls["_upload"]
    edited = world.edit(product, title="Warm coat", quantity=4, price=8000)
    assert world.done("update", "etsy", edited).status == "completed"
    [listing] = world.etsy.listings.values()
    assert (listing["title"], listing["quantity"]) == ("Warm coat", 4)
    assert listing["price"]["amount"] == 8000
    assert world.etsy.calls["_upload"] == uploads


def test_tags_that_the_product_loses_are_taken_off_the_listing(world: MarketWorld) -> None:
    product = world.product(attributes={"tags": "wool,warm"})
    world.done("publish", "etsy", product)
    [listing] = world.etsy.listings.values()
    assert listing["tags"] == ["wool", "warm"]
    for tags, shown in (("wool", ["wool"]), (None, [])):
        edited = world.edit(product, attributes={"tags": tags} if tags else {})
        assert world.done("update", "etsy", edited).status == "completed"
        assert listing["tags"] == shown


def test_tags_that_the_seller_gave_on_etsy_stay(world: MarketWorld) -> None:
    product = world.product()
    world.etsy.list_by_hand("7", title="Wool coat", tags=["vintage"])
    world.done("link_product", "etsy", product, external_id="7")
    assert world.done("publish", "etsy", product).status == "completed"
    assert world.etsy.listings["7"]["tags"] == ["vintage"]


@pytest.mark.parametrize(
    ("currency", "price", "divisor"), [("EUR", 1990, 100), ("JPY", 1990, 1), ("TND", 1990, 1000)]
)
def test_what_etsy_only_spells_differently_is_no_difference(
    currency: str, price: int, divisor: int, world: MarketWorld
) -> None:
    world.etsy.currency = currency
    product = world.product(title="Mum's  mug", price=price, currency=currency)
    world.done("publish", "etsy", product)
    [listing] = world.etsy.listings.values()
    listing["title"] = "Mum&#39;s mug"
    listing["price"] = {"amount": price, "divisor": divisor, "currency_code": currency}
    assert world.done("sync", "etsy", product).result["drift"] == []  # type: ignore[index]
    listing["price"]["amount"] += 1
    listing["title"] = "Dad&#39;s mug"
    found = world.done("sync", "etsy", product).result["drift"]  # type: ignore[index]
    assert [each[0] for each in found] == ["title", "price"]


def test_a_price_in_another_currency_than_the_shops_is_refused(world: MarketWorld) -> None:
    """Etsy would read 1990 yen as 1990 euros."""
    product = world.product(price=1990, currency="JPY")
    job = world.done("publish", "etsy", product)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["message"]) == ("currency", "the shop sells in EUR")
    assert not world.etsy.listings
    world.edit(product, price=1199, currency="EUR")
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"


@pytest.mark.parametrize(("status", "code"), [(404, "NEEDS_INPUT"), (429, "MAX_RETRIES_EXCEEDED")])
def test_an_image_whose_host_is_busy_is_fetched_again(
    status: int, code: str, world: MarketWorld
) -> None:
    world.web.images.clear()
    world.web.around = lambda name, serve: (
        StubResponse(status) if name.endswith(".jpg") else serve()
    )
    job = world.done("publish", "etsy", world.product())
    assert job.last_error is not None
    assert job.last_error.code == code


def test_an_image_that_was_taken_off_and_is_put_back_is_uploaded_again(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    [listing_id] = world.etsy.listings
    for images in (IMAGES[:1], IMAGES, IMAGES[:1], IMAGES):
        job = world.done("update", "etsy", world.edit(product, images=images))
        assert job.status == "completed", job.last_error
        assert len(world.etsy.images[listing_id]) == len(images)


def test_an_image_that_the_seller_removed_on_etsy_comes_back_with_the_next_update(
    world: MarketWorld,
) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    [listing_id] = world.etsy.listings
    world.etsy.images[listing_id].pop()
    codes = [world.done("update", "etsy", product).last_error for _ in range(2)]
    assert codes[0] is not None
    assert (codes[0].code, codes[1]) == ("MAX_RETRIES_EXCEEDED", None)
    assert len(world.etsy.images[listing_id]) == len(IMAGES)


def test_an_image_that_the_product_has_twice_is_shown_once(world: MarketWorld) -> None:
    product = world.product(images=(*IMAGES, IMAGES[0]))
    assert world.done("publish", "etsy", product).status == "completed"
    [key] = world.etsy.listings
    assert len(world.etsy.images[key]) == 2


def test_variations_made_there_are_left_alone(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    [inventory] = world.etsy.inventories.values()
    inventory["products"].append({"sku": "other", "offerings": []})
    job = world.done("update", "etsy", world.edit(product, price=1000))
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert len(inventory["products"]) == 2
    other = world.product("Another")
    world.etsy.list_by_hand("7", title="In many sizes")
    world.etsy.inventories["7"] = {"products": [{"offerings": []}, {"offerings": []}]}
    linked = world.done("link_product", "etsy", other, external_id="7")
    assert linked.last_error is not None
    assert "has variations" in linked.last_error.message
    assert world.listings.holder(world.tenant, "etsy", "7") is None


def test_a_deleted_listing_is_gone_and_another_may_be_made(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    assert world.done("delete", "etsy", product).status == "completed"
    assert world.etsy.listings == {}
    assert world.done("publish", "etsy", product).status == "completed"
    assert len(world.etsy.listings) == 1


def test_a_spent_day_budget_waits_an_hour(world: MarketWorld) -> None:
    world.etsy.left_today = 2
    ref = world.submit("publish", "etsy", world.product())
    waiting = world.once(ref)
    assert waiting.status == "pending"
    assert (waiting.due_at - world.clock()).total_seconds() == pytest.approx(3600, abs=1)


def test_a_job_goes_on_once_the_day_budget_is_renewed(memory: MarketWorld) -> None:
    world = memory
    world.etsy.left_today = 2
    begun = world.clock()
    ref = world.submit("publish", "etsy", world.product())
    serve = world.etsy.serve

    def renewed(seen: RecordedRequest) -> StubResponse:
        if world.clock() - begun >= timedelta(hours=9):
            world.etsy.left_today = None
        return serve(seen)

    world.etsy.serve = renewed  # type: ignore[method-assign]
    job = world.finish(ref)
    assert (job.status, job.attempts) == ("completed", 0), job.last_error
    assert world.clock() - begun >= timedelta(hours=9)
    assert len(world.etsy.listings) == 1


@pytest.mark.heavy
def test_a_budget_that_isnt_renewed_for_a_week_ends_the_job_with_its_reason(
    memory: MarketWorld,
) -> None:
    world = memory
    world.etsy.left_today = 2
    begun = world.clock()
    job = world.finish(world.submit("publish", "etsy", world.product()), most=400)
    assert job.status == "expired"
    assert job.last_error is not None
    assert job.last_error.message.startswith("no slot in time: the limits of etsy, until 2026-")
    assert timedelta(days=7) <= world.clock() - begun <= timedelta(days=7, hours=2)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"title": "x" * 141}, "title"),
        ({"title": "a & b & c"}, "title"),
        ({"title": "Coat 🧥"}, "title"),
        ({"attributes": {"tags": "a_b"}}, "attributes.tags"),
        ({"attributes": {"material": "80% wool"}}, "attributes.material"),
        ({"attributes": {"tags": ",".join(f"t{n}" for n in range(14))}}, "attributes.tags"),
        ({"attributes": {"when_made": "yesterday"}}, "attributes.when_made"),
        ({"images": ()}, "images"),
    ],
)
def test_what_etsy_would_refuse_is_refused_at_submission(
    changes: dict[str, Any], field: str, world: MarketWorld
) -> None:
    product = world.product(**changes)
    with pytest.raises(ValidationFailed) as refusal:
        world.submit("publish", "etsy", product)
    assert [each["path"] for each in refusal.value.details["fields"]] == [field]
    assert world.web.seen == []


def test_what_etsy_takes_is_sent_as_it_takes_it(world: MarketWorld) -> None:
    attributes = {
        "tags": "D'été,™,d'e\u0301te\u0301",
        "material": "wool, silk",
        "when_made": "before_2007",
    }
    product = world.product("Robe d'e\u0301te\u0301 ±", attributes=attributes)
    assert world.done("publish", "etsy", product).status == "completed"
    [listing] = world.etsy.listings.values()
    assert (listing["title"], listing["tags"]) == ("Robe d'été ±", ["d'été", "™"])


def test_a_refusal_is_said_in_etsys_words_too(world: MarketWorld) -> None:
    world.etsy.refused_titles.add("Odd coat")
    job = world.done("publish", "etsy", world.product("Odd coat"))
    assert job.last_error is not None
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["message"]) == ("product", "Missing or wrong: title")
    world.etsy.refused_titles.clear()
    world.publishing.move(world.tenant, job.id, Transition.RETRY)
    assert world.finish(job.ref).status == "completed"
    assert len(world.etsy.listings) == 1


def test_a_product_that_was_linked_is_brought_up_and_not_listed_again(world: MarketWorld) -> None:
    product = world.product("Blue coat")
    world.etsy.list_by_hand("7", title="As the seller wrote it")
    linked = world.done("link_product", "etsy", product, external_id="7")
    assert linked.status == "completed"
    assert world.done("publish", "etsy", product).status == "completed"
    assert [each["title"] for each in world.etsy.listings.values()] == ["Blue coat"]


def test_a_product_is_not_listed_again_when_what_was_done_is_long_forgotten(
    memory: MarketWorld,
) -> None:
    product = memory.product()
    memory.done("publish", "etsy", product)
    assert isinstance(memory.stores.effects, FakeEffectStore)
    memory.stores.effects.purge()
    edited = memory.edit(product, title="Warm coat")
    assert memory.done("publish", "etsy", edited).status == "completed"
    assert [each["title"] for each in memory.etsy.listings.values()] == ["Warm coat"]


def test_a_list_that_lacks_its_listings_hides_no_lost_draft(world: MarketWorld) -> None:
    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if name == f"GET /v3/application/shops/{SHOP}/listings" and world.etsy.calls["_newest"] < 9:
            return StubResponse(said.status, {**said.data, "results": []})
        return said

    world.etsy.visible_after = 0
    world.web.lost.add(4)
    world.web.around = around
    assert world.done("publish", "etsy", world.product()).status == "completed"
    assert len(world.etsy.listings) == 1


@pytest.mark.parametrize("minutes", [-4, 4])
def test_a_lost_draft_is_found_though_the_clocks_differ(minutes: int, world: MarketWorld) -> None:
    world.etsy.clock = lambda: world.clock() + timedelta(minutes=minutes)
    world.web.lost.add(4)
    assert world.done("publish", "etsy", world.product()).status == "completed"
    assert len(world.etsy.listings) == 1


@pytest.mark.parametrize("shown_as", ["Manteau  d'été", "MANTEAU D'ÉTÉ", "Manteau d&#39;été"])
def test_a_lost_draft_is_found_by_the_title_that_was_sent(
    shown_as: str, world: MarketWorld
) -> None:
    world.web.lost.add(4)
    product = world.product("Manteau d'e\u0301te\u0301")
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    [listing] = world.etsy.listings.values()
    listing["title"] = shown_as
    world.edit(product, title="Warm coat", description="Another text")
    assert world.finish(ref).status == "completed"
    [listing] = world.etsy.listings.values()
    assert (listing["title"], listing["description"]) == ("Warm coat", "Another text")


def test_a_new_listing_that_nothing_explains_is_the_sellers_to_name(world: MarketWorld) -> None:
    world.web.lost.add(4)
    product = world.product()
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    [(key, listing)] = world.etsy.listings.items()
    listing["title"] = "What Etsy made of it"
    job = world.finish(ref)
    assert job.last_error is not None
    assert (job.last_error.code, list(world.etsy.listings)) == ("NEEDS_INPUT", [key])
    assert world.done("link_product", "etsy", product, external_id=key).status == "completed"
    assert world.done("publish", "etsy", product).status == "completed"
    assert list(world.etsy.listings) == [key]


@pytest.mark.parametrize("state", ["inactive", "sold_out", "expired"])
def test_a_listing_that_can_be_renewed_goes_on_being_the_products(
    state: str, world: MarketWorld
) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    [(key, listing)] = world.etsy.listings.items()
    listing["state"] = state
    assert world.done("sync", "etsy", product).result["state"] == state  # type: ignore[index]  # a completed job has a result
    assert world.done("publish", "etsy", product).status == "completed"
    assert (
        [(key, listing["state"])]
        == [(key, each["state"]) for key, each in world.etsy.listings.items()]
        == [(key, "active")]
    )


def test_a_draft_in_doubt_is_looked_for_even_when_what_was_done_is_long_forgotten(
    memory: MarketWorld,
) -> None:
    product = memory.product()
    memory.web.lost.add(4)
    ref = memory.submit("publish", "etsy", product)
    memory.once(ref)
    memory.control.move(ref, Transition.CANCEL)
    assert isinstance(memory.stores.effects, FakeEffectStore)
    memory.stores.effects.purge()
    memory.clock.advance(bounds.EFFECT_RETENTION_SECONDS)
    assert memory.done("publish", "etsy", product).status == "completed"
    assert len(memory.etsy.listings) == 1


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (("POST", f"/shops/{SHOP}/listings"), "product"),
        (("POST", "/images"), "images"),
        (("PUT", "/inventory"), "price"),
        (("PATCH", ""), "images"),
        (("GET", "/shipping-profiles"), "shop"),
    ],
)
def test_a_400_names_the_field_of_its_step(
    call: tuple[str, str], field: str, world: MarketWorld
) -> None:
    method, end = call

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        is_it = name.startswith(f"{method} ") and name.endswith(end)
        return StubResponse(400, {"error": "no"}) if is_it else serve()

    world.web.around = around
    job = world.done("publish", "etsy", world.product())
    assert job.last_error is not None
    [said] = job.last_error.details["fields"]
    assert (said["path"], said["message"]) == (field, "no")
    assert said["hint"]
