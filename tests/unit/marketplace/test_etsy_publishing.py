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
from tests.markets.bench import IMAGES, SECONDS, Bench
from tests.markets.etsy import SHOP
from tests.markets.web import RecordedRequest, StubResponse


# covers B-06
def test_a_product_is_listed_with_its_images_in_order(bench: Bench) -> None:
    product = bench.product()
    job = bench.done("publish", "etsy", product)
    assert job.status == "completed", job.last_error
    [(key, listing)] = bench.etsy.listings.items()
    assert (listing["state"], listing["taxonomy_id"]) == ("active", 1837)
    assert [each["alt_text"] for each in bench.etsy.images[key]] == [
        "Wool coat (1/2)",
        "Wool coat (2/2)",
    ]
    [made] = bench.etsy.inventories[key]["products"]
    assert (made["sku"], made["offerings"][0]["price"]["amount"]) == (product.sku, 8900)
    assert job.result is not None
    assert job.result["etsy_id"] == key


@pytest.mark.parametrize("visible_after", [0.0, 90.0])
def test_a_draft_whose_answer_was_lost_is_found_and_not_made_again(
    visible_after: float, bench: Bench
) -> None:
    bench.etsy.visible_after = visible_after
    bench.web.lost.add(4)  # shop, profiles, states, draft
    job = bench.done("publish", "etsy", bench.product())
    assert job.status == "completed"
    assert len(bench.etsy.listings) == 1


def test_a_draft_that_was_never_made_is_made(bench: Bench) -> None:
    bench.web.instead[4] = StubResponse(503)
    assert bench.done("publish", "etsy", bench.product()).status == "completed"
    assert len(bench.etsy.listings) == 1


def test_a_call_is_not_sent_by_a_process_that_was_stopped_just_before(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    take, calls = bench.stores.rate_limiter.take, itertools.count(1)

    def stopped(*given: Any) -> datetime:
        if next(calls) == 4:  # shop, profiles, states, draft
            bench.remaining = 20.0
        return take(*given)

    monkeypatch.setattr(bench.stores.rate_limiter, "take", stopped)
    ref = bench.submit("publish", "etsy", bench.product())
    assert bench.once(ref).status == "pending"
    assert not bench.etsy.listings
    bench.remaining = SECONDS
    assert bench.finish(ref).status == "completed"
    assert len(bench.etsy.listings) == 1


def test_several_that_may_be_it_are_the_sellers_to_tell_apart(bench: Bench) -> None:
    bench.web.lost.add(4)
    bench.etsy.visible_after = 0
    product = bench.product()
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    [listing] = bench.etsy.listings.values()
    twin = {**listing, "listing_id": 1}
    bench.etsy.listings["1"] = twin
    job = bench.finish(ref)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert len(bench.etsy.listings) == 2
    linked = bench.done("link_product", "etsy", product, external_id=str(listing["listing_id"]))
    assert linked.status == "completed"


def test_a_message_is_unsupported_and_says_so(bench: Bench) -> None:
    ref = bench.submit("message", "etsy", None, text="hello")
    job = bench.finish(ref)
    [task] = bench.tasks.of_job(bench.tenant, job.id)
    assert job.last_error is not None
    assert (job.last_error.code, task.reason) == ("UNSUPPORTED", "unsupported")


def test_an_update_changes_fields_and_inventory_and_leaves_images(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    uploads = bench.etsy.calls["_upload"]
    edited = bench.edit(product, title="Warm coat", quantity=4, price=8000)
    assert bench.done("update", "etsy", edited).status == "completed"
    [listing] = bench.etsy.listings.values()
    assert (listing["title"], listing["quantity"]) == ("Warm coat", 4)
    assert listing["price"]["amount"] == 8000
    assert bench.etsy.calls["_upload"] == uploads


def test_tags_that_the_product_loses_are_taken_off_the_listing(bench: Bench) -> None:
    product = bench.product(attributes={"tags": "wool,warm"})
    bench.done("publish", "etsy", product)
    [listing] = bench.etsy.listings.values()
    assert listing["tags"] == ["wool", "warm"]
    for tags, shown in (("wool", ["wool"]), (None, [])):
        edited = bench.edit(product, attributes={"tags": tags} if tags else {})
        assert bench.done("update", "etsy", edited).status == "completed"
        assert listing["tags"] == shown


def test_tags_that_the_seller_gave_on_etsy_stay(bench: Bench) -> None:
    product = bench.product()
    bench.etsy.list_by_hand("7", title="Wool coat", tags=["vintage"])
    bench.done("link_product", "etsy", product, external_id="7")
    assert bench.done("publish", "etsy", product).status == "completed"
    assert bench.etsy.listings["7"]["tags"] == ["vintage"]


@pytest.mark.parametrize(
    ("currency", "price", "divisor"), [("EUR", 1990, 100), ("JPY", 1990, 1), ("TND", 1990, 1000)]
)
def test_what_etsy_only_spells_differently_is_no_difference(
    currency: str, price: int, divisor: int, bench: Bench
) -> None:
    bench.etsy.currency = currency
    product = bench.product(title="Mum's  mug", price=price, currency=currency)
    bench.done("publish", "etsy", product)
    [listing] = bench.etsy.listings.values()
    listing["title"] = "Mum&#39;s mug"
    listing["price"] = {"amount": price, "divisor": divisor, "currency_code": currency}
    assert bench.done("sync", "etsy", product).result["drift"] == []  # type: ignore[index]
    listing["price"]["amount"] += 1
    listing["title"] = "Dad&#39;s mug"
    found = bench.done("sync", "etsy", product).result["drift"]  # type: ignore[index]
    assert [each[0] for each in found] == ["title", "price"]


def test_a_price_in_another_currency_than_the_shops_is_refused(bench: Bench) -> None:
    """Etsy would take 1990 yen for 1990 euros."""
    product = bench.product(price=1990, currency="JPY")
    job = bench.done("publish", "etsy", product)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["message"]) == ("currency", "the shop sells in EUR")
    assert not bench.etsy.listings
    bench.edit(product, price=1199, currency="EUR")
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"


@pytest.mark.parametrize(("status", "code"), [(404, "NEEDS_INPUT"), (429, "MAX_RETRIES_EXCEEDED")])
def test_an_image_whose_host_is_busy_is_fetched_again(status: int, code: str, bench: Bench) -> None:
    bench.web.images.clear()
    bench.web.around = lambda name, serve: (
        StubResponse(status) if name.endswith(".jpg") else serve()
    )
    job = bench.done("publish", "etsy", bench.product())
    assert job.last_error is not None
    assert job.last_error.code == code


def test_an_image_that_was_taken_off_and_is_put_back_is_uploaded_again(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    [listing_id] = bench.etsy.listings
    for images in (IMAGES[:1], IMAGES, IMAGES[:1], IMAGES):
        job = bench.done("update", "etsy", bench.edit(product, images=images))
        assert job.status == "completed", job.last_error
        assert len(bench.etsy.images[listing_id]) == len(images)


def test_an_image_that_the_seller_removed_on_etsy_comes_back_with_the_next_update(
    bench: Bench,
) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    [listing_id] = bench.etsy.listings
    bench.etsy.images[listing_id].pop()
    codes = [bench.done("update", "etsy", product).last_error for _ in range(2)]
    assert codes[0] is not None
    assert (codes[0].code, codes[1]) == ("MAX_RETRIES_EXCEEDED", None)
    assert len(bench.etsy.images[listing_id]) == len(IMAGES)


def test_an_image_that_the_product_has_twice_is_shown_once(bench: Bench) -> None:
    product = bench.product(images=(*IMAGES, IMAGES[0]))
    assert bench.done("publish", "etsy", product).status == "completed"
    [key] = bench.etsy.listings
    assert len(bench.etsy.images[key]) == 2


def test_variations_made_there_are_left_alone(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    [inventory] = bench.etsy.inventories.values()
    inventory["products"].append({"sku": "other", "offerings": []})
    job = bench.done("update", "etsy", bench.edit(product, price=1000))
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert len(inventory["products"]) == 2
    other = bench.product("Another")
    bench.etsy.list_by_hand("7", title="In many sizes")
    bench.etsy.inventories["7"] = {"products": [{"offerings": []}, {"offerings": []}]}
    linked = bench.done("link_product", "etsy", other, external_id="7")
    assert linked.last_error is not None
    assert "has variations" in linked.last_error.message
    assert bench.listings.holder(bench.tenant, "etsy", "7") is None


def test_a_deleted_listing_is_gone_and_another_may_be_made(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    assert bench.done("delete", "etsy", product).status == "completed"
    assert bench.etsy.listings == {}
    assert bench.done("publish", "etsy", product).status == "completed"
    assert len(bench.etsy.listings) == 1


def test_a_spent_day_budget_waits_an_hour(bench: Bench) -> None:
    bench.etsy.left_today = 2
    ref = bench.submit("publish", "etsy", bench.product())
    waiting = bench.once(ref)
    assert waiting.status == "pending"
    assert (waiting.due_at - bench.clock()).total_seconds() == pytest.approx(3600, abs=1)


def test_a_job_goes_on_once_the_day_budget_is_renewed(memory: Bench) -> None:
    bench = memory
    bench.etsy.left_today = 2
    begun = bench.clock()
    ref = bench.submit("publish", "etsy", bench.product())
    serve = bench.etsy.serve

    def renewed(seen: RecordedRequest) -> StubResponse:
        if bench.clock() - begun >= timedelta(hours=9):
            bench.etsy.left_today = None
        return serve(seen)

    bench.etsy.serve = renewed  # type: ignore[method-assign]
    job = bench.finish(ref)
    assert (job.status, job.attempts) == ("completed", 0), job.last_error
    assert bench.clock() - begun >= timedelta(hours=9)
    assert len(bench.etsy.listings) == 1


@pytest.mark.heavy
def test_a_budget_that_isnt_renewed_for_a_week_ends_the_job_with_its_reason(memory: Bench) -> None:
    bench = memory
    bench.etsy.left_today = 2
    begun = bench.clock()
    job = bench.finish(bench.submit("publish", "etsy", bench.product()), most=400)
    assert job.status == "expired"
    assert job.last_error is not None
    assert job.last_error.message.startswith("no slot in time: the limits of etsy, until 2026-")
    assert timedelta(days=7) <= bench.clock() - begun <= timedelta(days=7, hours=2)


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
    changes: dict[str, Any], field: str, bench: Bench
) -> None:
    product = bench.product(**changes)
    with pytest.raises(ValidationFailed) as refusal:
        bench.submit("publish", "etsy", product)
    assert [each["path"] for each in refusal.value.details["fields"]] == [field]
    assert bench.web.seen == []


def test_what_etsy_takes_is_sent_as_it_takes_it(bench: Bench) -> None:
    attributes = {
        "tags": "D'été,™,d'e\u0301te\u0301",
        "material": "wool, silk",
        "when_made": "before_2007",
    }
    product = bench.product("Robe d'e\u0301te\u0301 ±", attributes=attributes)
    assert bench.done("publish", "etsy", product).status == "completed"
    [listing] = bench.etsy.listings.values()
    assert (listing["title"], listing["tags"]) == ("Robe d'été ±", ["d'été", "™"])


def test_a_refusal_is_said_in_etsys_words_too(bench: Bench) -> None:
    bench.etsy.refused_titles.add("Odd coat")
    job = bench.done("publish", "etsy", bench.product("Odd coat"))
    assert job.last_error is not None
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["message"]) == ("product", "Missing or wrong: title")
    bench.etsy.refused_titles.clear()
    bench.publishing.move(bench.tenant, job.id, Transition.RETRY)
    assert bench.finish(job.ref).status == "completed"
    assert len(bench.etsy.listings) == 1


def test_a_product_that_was_linked_is_brought_up_and_not_listed_again(bench: Bench) -> None:
    product = bench.product("Blue coat")
    bench.etsy.list_by_hand("7", title="As the seller wrote it")
    linked = bench.done("link_product", "etsy", product, external_id="7")
    assert linked.status == "completed"
    assert bench.done("publish", "etsy", product).status == "completed"
    assert [each["title"] for each in bench.etsy.listings.values()] == ["Blue coat"]


def test_a_product_is_not_listed_again_when_what_was_done_is_long_forgotten(
    memory: Bench,
) -> None:
    product = memory.product()
    memory.done("publish", "etsy", product)
    assert isinstance(memory.stores.effects, FakeEffectStore)
    memory.stores.effects.purge()
    edited = memory.edit(product, title="Warm coat")
    assert memory.done("publish", "etsy", edited).status == "completed"
    assert [each["title"] for each in memory.etsy.listings.values()] == ["Warm coat"]


def test_a_list_that_lacks_its_listings_hides_no_lost_draft(bench: Bench) -> None:
    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if name == f"GET /v3/application/shops/{SHOP}/listings" and bench.etsy.calls["_newest"] < 9:
            return StubResponse(said.status, {**said.data, "results": []})
        return said

    bench.etsy.visible_after = 0
    bench.web.lost.add(4)
    bench.web.around = around
    assert bench.done("publish", "etsy", bench.product()).status == "completed"
    assert len(bench.etsy.listings) == 1


@pytest.mark.parametrize("minutes", [-4, 4])
def test_a_lost_draft_is_found_though_the_clocks_differ(minutes: int, bench: Bench) -> None:
    bench.etsy.clock = lambda: bench.clock() + timedelta(minutes=minutes)
    bench.web.lost.add(4)
    assert bench.done("publish", "etsy", bench.product()).status == "completed"
    assert len(bench.etsy.listings) == 1


@pytest.mark.parametrize("shown_as", ["Manteau  d'été", "MANTEAU D'ÉTÉ", "Manteau d&#39;été"])
def test_a_lost_draft_is_found_by_the_title_that_was_sent(shown_as: str, bench: Bench) -> None:
    bench.web.lost.add(4)
    product = bench.product("Manteau d'e\u0301te\u0301")
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    [listing] = bench.etsy.listings.values()
    listing["title"] = shown_as
    bench.edit(product, title="Warm coat", description="Another text")
    assert bench.finish(ref).status == "completed"
    [listing] = bench.etsy.listings.values()
    assert (listing["title"], listing["description"]) == ("Warm coat", "Another text")


def test_a_new_listing_that_nothing_explains_is_the_sellers_to_name(bench: Bench) -> None:
    bench.web.lost.add(4)
    product = bench.product()
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    [(key, listing)] = bench.etsy.listings.items()
    listing["title"] = "What Etsy made of it"
    job = bench.finish(ref)
    assert job.last_error is not None
    assert (job.last_error.code, list(bench.etsy.listings)) == ("NEEDS_INPUT", [key])
    assert bench.done("link_product", "etsy", product, external_id=key).status == "completed"
    assert bench.done("publish", "etsy", product).status == "completed"
    assert list(bench.etsy.listings) == [key]


@pytest.mark.parametrize("state", ["inactive", "sold_out", "expired"])
def test_a_listing_that_can_be_renewed_goes_on_being_the_products(state: str, bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    [(key, listing)] = bench.etsy.listings.items()
    listing["state"] = state
    assert bench.done("sync", "etsy", product).result["state"] == state  # type: ignore[index]  # it ended well
    assert bench.done("publish", "etsy", product).status == "completed"
    assert (
        [(key, listing["state"])]
        == [(key, each["state"]) for key, each in bench.etsy.listings.items()]
        == [(key, "active")]
    )


def test_a_draft_in_doubt_is_looked_for_even_when_what_was_done_is_long_forgotten(
    memory: Bench,
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
def test_a_400_names_the_field_of_its_step(call: tuple[str, str], field: str, bench: Bench) -> None:
    method, end = call

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        is_it = name.startswith(f"{method} ") and name.endswith(end)
        return StubResponse(400, {"error": "no"}) if is_it else serve()

    bench.web.around = around
    job = bench.done("publish", "etsy", bench.product())
    assert job.last_error is not None
    [said] = job.last_error.details["fields"]
    assert (said["path"], said["message"]) == (field, "no")
    assert said["hint"]
