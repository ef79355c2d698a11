"""A listing is one product's, whoever takes it first."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from spinneret.jobs.models import JobRef, Transition
from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product
from tests.markets.bench import Bench
from tests.markets.etsy import SHOP
from tests.markets.web import StubResponse


def _lost_draft(bench: Bench, product: Product) -> JobRef:
    """A publication whose draft is made, but the answer is lost."""
    direct = bench.web.around

    def losing(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name == f"POST /v3/application/shops/{SHOP}/listings":
            bench.web.lost.add(len(bench.web.seen))
        return serve()

    bench.web.around = losing
    ref = bench.submit("publish", "etsy", product)
    bench.once(ref)
    bench.web.around = direct
    return ref


def _record(bench: Bench, product: Product, marketplace: str = "etsy") -> Listing:
    found = bench.listings.get(bench.tenant, product.id, marketplace)
    assert found is not None
    return found


def _remove(bench: Bench, product: Product) -> None:
    """As an earlier release did while a job of the product was under way."""
    standing = bench.products.get(bench.tenant, product.id)
    assert standing is not None
    assert bench.products.remove(standing)


def _overtaken(bench: Bench, act: Callable[[], object], is_it: Callable[[Listing], bool]) -> None:
    """Before the first write of such a record, something else happens."""
    save = bench.listings.save

    def late(former: Listing | None, listing: Listing, *more: Any) -> bool:
        if is_it(listing):
            bench.listings.save = save  # type: ignore[method-assign]
            act()
        return save(former, listing, *more)

    bench.listings.save = late  # type: ignore[method-assign]


# covers B-04
def test_two_products_of_one_title_that_look_at_once_adopt_one_draft_each(bench: Bench) -> None:
    """Both have lost an answer, but only one draft was made."""
    bench.etsy.visible_after = 0
    first, second = bench.product(), bench.product()
    one, other = _lost_draft(bench, first), _lost_draft(bench, second)
    bench.etsy.listings.popitem()
    _overtaken(bench, lambda: bench.finish(other), lambda listing: listing.reference is not None)
    assert bench.finish(one).status == "completed"
    assert bench.job(other).status == "completed"
    records = {_record(bench, each).external_id for each in (first, second)}
    assert records == set(bench.etsy.listings)
    assert len(records) == 2


def test_a_draft_that_is_just_being_made_may_be_adopted_by_its_twin(bench: Bench) -> None:
    bench.etsy.visible_after = 0
    first, second = bench.product(), bench.product()
    other = _lost_draft(bench, second)
    bench.etsy.listings.clear()
    _overtaken(bench, lambda: bench.finish(other), lambda listing: listing.reference is not None)
    assert bench.done("publish", "etsy", first).status == "completed"
    records = {_record(bench, each).external_id for each in (first, second)}
    assert records == set(bench.etsy.listings)
    assert len(records) == 2


def test_a_draft_adopted_by_a_job_that_was_cancelled_is_the_next_jobs(bench: Bench) -> None:
    bench.etsy.visible_after = 0
    product = bench.product()
    ref = _lost_draft(bench, product)
    _overtaken(
        bench,
        lambda: bench.web.lost.add(len(bench.web.seen) + 1),
        lambda listing: listing.reference is not None,
    )
    bench.once(ref)
    bench.control.move(ref, Transition.CANCEL)
    assert bench.done("publish", "etsy", product).status == "completed"
    assert [_record(bench, product).external_id] == list(bench.etsy.listings)


def test_an_intent_that_comes_late_takes_back_no_listing(bench: Bench) -> None:
    product = bench.product()
    late = bench.submit("publish", "etsy", product)
    other = bench.submit("publish", "etsy", product, custom_title=product.content.title)
    found: list[Listing] = []

    def overtake() -> None:
        assert bench.once(other).status == "completed"
        found.append(_record(bench, product))
        bench.web.around = lambda _, __: StubResponse(429)  # it comes no further

    _overtaken(bench, overtake, lambda listing: listing.intent_at is not None)
    bench.once(late)
    assert [_record(bench, product)] == found
    assert found[0].external_id == found[0].reference
    assert found[0].external_id in bench.etsy.listings


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_another_products_listing_is_not_linked(marketplace: str, bench: Bench) -> None:
    theirs, mine = bench.product(), bench.product("Scarf")
    bench.done("publish", marketplace, theirs)
    listing = _record(bench, theirs, marketplace)
    with pytest.raises(Conflict) as held:
        bench.submit("link_product", marketplace, mine, external_id=listing.external_id)
    assert held.value.details == {
        "product_id": theirs.id,
        "marketplace": marketplace,
        "external_id": listing.external_id,
    }
    assert _record(bench, theirs, marketplace) == listing


def test_a_link_that_is_overtaken_fails_and_names_the_holder(bench: Bench) -> None:
    bench.etsy.list_by_hand("7", title="Coat")
    theirs, mine = bench.product(), bench.product("Scarf")
    refs = [bench.submit("link_product", "etsy", each, external_id="7") for each in (theirs, mine)]
    first, second = (bench.finish(ref) for ref in refs)
    assert first.status == "completed"
    assert second.last_error is not None
    assert second.last_error.code == "CONFLICT"
    assert second.last_error.details["product_id"] == theirs.id
    assert bench.listings.get(bench.tenant, mine.id, "etsy") is None


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_a_link_orphans_no_listing_of_its_own(marketplace: str, bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", marketplace, product)
    bench.etsy.list_by_hand("7", title="Coat")
    own = _record(bench, product, marketplace).external_id
    job = bench.done("link_product", marketplace, product, external_id="7")
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == ("CONFLICT", own)
    assert _record(bench, product, marketplace).external_id == own
    assert bench.done("delete", marketplace, product).status == "completed"
    job = bench.done("link_product", marketplace, product, external_id="7")
    assert job.status == "completed"


@pytest.mark.parametrize("ends", ["delete", "unlink", "removed"])
def test_a_listing_that_its_product_gave_up_can_be_linked(ends: str, bench: Bench) -> None:
    theirs, mine = bench.product(), bench.product("Scarf")
    bench.etsy.list_by_hand("7", title="Coat")
    bench.done("link_product", "etsy", theirs, external_id="7")
    match ends:
        case "delete":
            bench.done("delete", "etsy", theirs)
            bench.etsy.list_by_hand("7", title="Coat")
        case "unlink":
            bench.done("link_product", "etsy", theirs, external_id=None)
        case _:
            _remove(bench, theirs)
    assert bench.done("link_product", "etsy", mine, external_id="7").status == "completed"


def test_the_listing_of_a_removed_product_keeps_no_orders_from_being_read(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    _remove(bench, product)
    bench.clock.advance(24 * 3600)
    assert bench.done("orders", "ebay").result == {"orders": 0, "looked_again": 0}


def test_a_seller_who_connects_again_has_the_same_listings(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "etsy", product)
    bench.connecting.end(bench.tenant, "etsy")
    bench.connect("etsy")
    assert bench.done("publish", "etsy", bench.edit(product, price=7000)).status == "completed"
    assert list(bench.etsy.listings) == [_record(bench, product).external_id]


def test_an_offer_of_an_sku_that_the_product_had_is_its_no_more(bench: Bench) -> None:
    former = bench.product()
    bench.done("publish", "ebay", former)
    bench.done("delete", "ebay", former)
    renamed = bench.cataloguing.update(
        bench.tenant, former.id, "renamed", former.content, former.overrides
    )
    successor = bench.cataloguing.create(bench.tenant, former.sku, former.content, former.overrides)
    bench.done("publish", "ebay", successor)
    assert bench.done("delete", "ebay", renamed).status == "completed"
    assert len(bench.ebay.live(successor.sku)) == 1
    assert bench.done("publish", "ebay", renamed).status == "completed"
    assert len(bench.ebay.live("renamed")) == 1


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_a_listing_that_is_linked_just_before_the_intent_is_updated_instead(
    marketplace: str, bench: Bench
) -> None:
    bench.etsy.list_by_hand("7", title="Coat")
    bench.plugin.items["7"] = {"id": 7, "title": "Coat"}
    product = bench.product()
    ref = bench.submit("publish", marketplace, product)
    _overtaken(
        bench,
        lambda: bench.done("link_product", marketplace, product, external_id="7"),
        lambda listing: listing.intent_at is not None,
    )
    assert bench.finish(ref).status == "completed"
    assert _record(bench, product, marketplace).external_id == "7"
    assert list(bench.etsy.listings) == ["7"]
    assert list(bench.plugin.items) == ["7"]
    assert not bench.plugin.drafts


@pytest.mark.parametrize("marketplace", ["etsy", "vinted", "ebay"])
def test_an_end_that_was_seen_ends_no_later_listing(marketplace: str, bench: Bench) -> None:
    """Two syncs see that it is gone; before the second one says so, the product has another."""
    bench.etsy.visible_after = 0
    product = bench.product()
    bench.done("publish", marketplace, product)
    former = _record(bench, product, marketplace)
    bench.clock.advance(600)
    for each in bench.ebay.offers.values():
        each["status"] = "UNPUBLISHED"
    bench.etsy.listings.clear()
    bench.plugin.items.clear()
    ref = bench.submit("sync", marketplace, product)

    def overtake() -> None:
        bench.done("sync", marketplace, product, reason="again")
        assert bench.done("publish", marketplace, product).status == "completed"

    _overtaken(bench, overtake, lambda listing: listing.state == "ended")
    assert bench.finish(ref).status == "completed"
    standing = _record(bench, product, marketplace)
    assert standing.state == "active"
    assert standing.external_id not in (None, former.external_id)


def test_differences_that_were_seen_are_of_no_later_listing(bench: Bench) -> None:
    product = bench.product()
    bench.plugin.items |= {"7": {"title": "Coat"}, "8": {"title": product.content.title}}
    bench.done("link_product", "vinted", product, external_id="7")
    ref = bench.submit("sync", "vinted", product)

    def overtake() -> None:
        bench.done("link_product", "vinted", product, external_id=None)
        bench.done("link_product", "vinted", product, external_id="8")

    _overtaken(bench, overtake, lambda listing: bool(listing.drift))
    assert bench.finish(ref).status == "completed"
    standing = _record(bench, product, "vinted")
    assert (standing.external_id, standing.drift) == ("8", ())


def test_a_draft_whose_product_was_linked_meanwhile_is_not_taken(bench: Bench) -> None:
    bench.etsy.list_by_hand("7", title="Coat")
    product = bench.product()
    ref = bench.submit("publish", "etsy", product)
    _overtaken(
        bench,
        lambda: bench.done("link_product", "etsy", product, external_id="7"),
        lambda listing: listing.reference is not None,
    )
    assert bench.finish(ref).status == "completed"
    assert _record(bench, product).external_id == "7"
    assert [key for key, each in bench.etsy.listings.items() if each["state"] == "active"] == ["7"]


def test_a_draft_that_its_product_gave_up_for_a_listing_is_not_published(bench: Bench) -> None:
    bench.etsy.list_by_hand("7", title="Coat")
    product = bench.product()

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PUT"):  # the inventory, just before
            bench.web.around = lambda _, serve: serve()
            bench.done("link_product", "etsy", product, external_id=None)
            bench.done("link_product", "etsy", product, external_id="7")
        return serve()

    bench.web.around = around
    job = bench.done("publish", "etsy", product)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == ("CONFLICT", "7")
    assert _record(bench, product).external_id == "7"
    assert [key for key, each in bench.etsy.listings.items() if each["state"] == "active"] == ["7"]


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_product_that_gets_another_sku_before_the_intent_is_listed_by_that_one(
    marketplace: str, bench: Bench
) -> None:
    product = bench.product()
    ref = bench.submit("publish", marketplace, product)
    _overtaken(
        bench,
        lambda: bench.cataloguing.change_sku(bench.tenant, product.id, "NEW-1"),
        lambda listing: listing.intent_at is not None,
    )
    assert bench.finish(ref).status == "completed"
    assert _record(bench, product, marketplace).sku == "NEW-1"
    bench.clock.advance(3600)
    assert bench.done("sync", marketplace, product).status == "completed"
    assert bench.done("publish", marketplace, bench.edit(product, price=9000)).status == "completed"
    assert bench.ebay.live(product.sku) == []
    assert len(bench.ebay.live("NEW-1")) == (marketplace == "ebay")
    assert len(bench.etsy.listings) == (marketplace == "etsy")


def test_a_draft_whose_deletion_is_cancelled_before_the_record_is_known_to_be_gone(
    bench: Bench,
) -> None:
    bench.etsy.visible_after = 0
    product, direct = bench.product(), bench.web.around
    refused = StubResponse(400, {"error": "no"})
    bench.web.around = lambda name, serve: refused if name.startswith("PUT") else serve()
    assert bench.done("publish", "etsy", product).status == "failed"  # with a draft
    bench.web.around = direct
    ref = bench.submit("delete", "etsy", product)
    _overtaken(
        bench,
        lambda: bench.control.move(ref, Transition.CANCEL),
        lambda listing: listing.state == "ended",
    )
    assert bench.finish(ref).status == "cancelled"
    bench.clock.advance(600)
    assert bench.done("sync", "etsy", product).result == {"state": "ended"}
    assert bench.done("publish", "etsy", product).status == "completed"
    assert [_record(bench, product).external_id] == list(bench.etsy.listings)


@pytest.mark.parametrize("change", ["another SKU", "removal"])
@pytest.mark.parametrize("marketplace", ["ebay", "etsy", "vinted"])
def test_a_product_whose_listing_has_just_begun_keeps_its_sku_and_its_row(
    marketplace: str, change: str, bench: Bench
) -> None:
    product, make = bench.product(), bench.cataloguing
    write, act = bench.products.replace, partial(make.change_sku, sku="NEW-1")
    if change == "removal":
        write, act = bench.products.remove, make.remove

    def late(*given: Any) -> bool:
        setattr(bench.products, write.__name__, write)
        assert bench.done("publish", marketplace, product).status == "completed"
        return write(*given)

    setattr(bench.products, write.__name__, late)
    with pytest.raises(Conflict):
        act(bench.tenant, product.id)
    standing = bench.products.get(bench.tenant, product.id)
    assert standing is not None
    assert standing.sku == product.sku == _record(bench, product, marketplace).sku


def test_a_product_that_gets_another_sku_before_its_link_is_not_linked(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "ebay", product)
    [listing] = bench.ebay.live(product.sku)
    bench.done("link_product", "ebay", product, external_id=None)
    ref = bench.submit("link_product", "ebay", product, external_id=listing)
    _overtaken(
        bench,
        lambda: bench.cataloguing.change_sku(bench.tenant, product.id, "NEW-1"),
        lambda listing: listing.state == "active",
    )
    job = bench.finish(ref)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert _record(bench, product, "ebay").state == "ended"


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_listing_that_ended_before_its_record_replaces_no_later_one(
    marketplace: str, bench: Bench
) -> None:
    bench.etsy.visible_after = 0
    product = bench.product()
    ref = bench.submit("publish", marketplace, product)

    def overtake() -> None:
        assert bench.done("delete", marketplace, product).status == "completed"
        assert bench.done("publish", marketplace, product).status == "completed"

    _overtaken(bench, overtake, lambda listing: listing.state == "active")
    job = bench.finish(ref)
    record = _record(bench, product, marketplace)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == (
        "CONFLICT",
        record.external_id,
    )
    assert [record.external_id] == [*bench.ebay.live(product.sku), *bench.etsy.listings]
