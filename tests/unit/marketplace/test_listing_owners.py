"""A listing belongs to one product: the first that adopts or links it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from spinneret.jobs.models import JobRef, Transition
from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing
from spinneret.marketplace.products.models import Product
from tests.markets.etsy import SHOP
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld


def _lost_draft(world: MarketWorld, product: Product) -> JobRef:
    """Start to publish on Etsy; lose the answer to the call that creates the draft."""
    direct = world.web.around

    def losing(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name == f"POST /v3/application/shops/{SHOP}/listings":
            world.web.lost.add(len(world.web.seen))
        return serve()

    world.web.around = losing
    ref = world.submit("publish", "etsy", product)
    world.once(ref)
    world.web.around = direct
    return ref


def _record(world: MarketWorld, product: Product, marketplace: str = "etsy") -> Listing:
    found = world.listings.get(world.tenant, product.id, marketplace)
    assert found is not None
    return found


def _remove(world: MarketWorld, product: Product) -> None:
    """Remove the product while one of its jobs is unfinished, as an earlier release could."""
    standing = world.products.get(world.tenant, product.id)
    assert standing is not None
    assert world.products.remove(standing)


def _overtaken(
    world: MarketWorld, act: Callable[[], object], is_it: Callable[[Listing], bool]
) -> None:
    """Call `act` before the first write of a listing record for which `is_it` is true."""
    save = world.listings.save

    def late(former: Listing | None, listing: Listing, *more: Any) -> bool:
        if is_it(listing):
            world.listings.save = save  # type: ignore[method-assign]
            act()
        return save(former, listing, *more)

    world.listings.save = late  # type: ignore[method-assign]


# covers B-04
def test_two_products_of_one_title_that_look_at_once_adopt_one_draft_each(
    world: MarketWorld,
) -> None:
    """Both products lost an answer, but only one draft was created."""
    world.etsy.visible_after = 0
    first, second = world.product(), world.product()
    one, other = _lost_draft(world, first), _lost_draft(world, second)
    world.etsy.listings.popitem()
    _overtaken(world, lambda: world.finish(other), lambda listing: listing.reference is not None)
    assert world.finish(one).status == "completed"
    assert world.job(other).status == "completed"
    records = {_record(world, each).external_id for each in (first, second)}
    assert records == set(world.etsy.listings)
    assert len(records) == 2


def test_a_draft_that_is_just_being_made_may_be_adopted_by_its_twin(world: MarketWorld) -> None:
    world.etsy.visible_after = 0
    first, second = world.product(), world.product()
    other = _lost_draft(world, second)
    world.etsy.listings.clear()
    _overtaken(world, lambda: world.finish(other), lambda listing: listing.reference is not None)
    assert world.done("publish", "etsy", first).status == "completed"
    records = {_record(world, each).external_id for each in (first, second)}
    assert records == set(world.etsy.listings)
    assert len(records) == 2


def test_a_draft_adopted_by_a_job_that_was_cancelled_is_the_next_jobs(world: MarketWorld) -> None:
    world.etsy.visible_after = 0
    product = world.product()
    ref = _lost_draft(world, product)
    _overtaken(
        world,
        lambda: world.web.lost.add(len(world.web.seen) + 1),
        lambda listing: listing.reference is not None,
    )
    world.once(ref)
    world.control.move(ref, Transition.CANCEL)
    assert world.done("publish", "etsy", product).status == "completed"
    assert [_record(world, product).external_id] == list(world.etsy.listings)


def test_an_intent_that_comes_late_takes_back_no_listing(world: MarketWorld) -> None:
    product = world.product()
    late = world.submit("publish", "etsy", product)
    other = world.submit("publish", "etsy", product, custom_title=product.content.title)
    found: list[Listing] = []

    def overtake() -> None:
        assert world.once(other).status == "completed"
        found.append(_record(world, product))
        world.web.around = lambda _, __: StubResponse(429)  # the job makes no more calls

    _overtaken(world, overtake, lambda listing: listing.intent_at is not None)
    world.once(late)
    assert [_record(world, product)] == found
    assert found[0].external_id == found[0].reference
    assert found[0].external_id in world.etsy.listings


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_another_products_listing_is_not_linked(marketplace: str, world: MarketWorld) -> None:
    theirs, mine = world.product(), world.product("Scarf")
    world.done("publish", marketplace, theirs)
    listing = _record(world, theirs, marketplace)
    with pytest.raises(Conflict) as held:
        world.submit("link_product", marketplace, mine, external_id=listing.external_id)
    assert held.value.details == {
        "product_id": theirs.id,
        "marketplace": marketplace,
        "external_id": listing.external_id,
    }
    assert _record(world, theirs, marketplace) == listing


def test_a_link_that_is_overtaken_fails_and_names_the_holder(world: MarketWorld) -> None:
    world.etsy.list_by_hand("7", title="Coat")
    theirs, mine = world.product(), world.product("Scarf")
    refs = [world.submit("link_product", "etsy", each, external_id="7") for each in (theirs, mine)]
    first, second = (world.finish(ref) for ref in refs)
    assert first.status == "completed"
    assert second.last_error is not None
    assert second.last_error.code == "CONFLICT"
    assert second.last_error.details["product_id"] == theirs.id
    assert world.listings.get(world.tenant, mine.id, "etsy") is None


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_a_link_orphans_no_listing_of_its_own(marketplace: str, world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", marketplace, product)
    world.etsy.list_by_hand("7", title="Coat")
    own = _record(world, product, marketplace).external_id
    job = world.done("link_product", marketplace, product, external_id="7")
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == ("CONFLICT", own)
    assert _record(world, product, marketplace).external_id == own
    assert world.done("delete", marketplace, product).status == "completed"
    job = world.done("link_product", marketplace, product, external_id="7")
    assert job.status == "completed"


@pytest.mark.parametrize("ends", ["delete", "unlink", "removed"])
def test_a_listing_that_its_product_gave_up_can_be_linked(ends: str, world: MarketWorld) -> None:
    theirs, mine = world.product(), world.product("Scarf")
    world.etsy.list_by_hand("7", title="Coat")
    world.done("link_product", "etsy", theirs, external_id="7")
    match ends:
        case "delete":
            world.done("delete", "etsy", theirs)
            world.etsy.list_by_hand("7", title="Coat")
        case "unlink":
            world.done("link_product", "etsy", theirs, external_id=None)
        case _:
            _remove(world, theirs)
    assert world.done("link_product", "etsy", mine, external_id="7").status == "completed"


def test_the_listing_of_a_removed_product_keeps_no_orders_from_being_read(
    world: MarketWorld,
) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    _remove(world, product)
    world.clock.advance(24 * 3600)
    assert world.done("orders", "ebay").result == {"orders": 0, "looked_again": 0}


def test_a_seller_who_connects_again_has_the_same_listings(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "etsy", product)
    world.connecting.end(world.tenant, "etsy")
    world.connect("etsy")
    assert world.done("publish", "etsy", world.edit(product, price=7000)).status == "completed"
    assert list(world.etsy.listings) == [_record(world, product).external_id]


def test_an_offer_of_an_sku_that_the_product_had_is_its_no_more(world: MarketWorld) -> None:
    former = world.product()
    world.done("publish", "ebay", former)
    world.done("delete", "ebay", former)
    renamed = world.cataloguing.update(
        world.tenant, former.id, "renamed", former.content, former.overrides
    )
    successor = world.cataloguing.create(world.tenant, former.sku, former.content, former.overrides)
    world.done("publish", "ebay", successor)
    assert world.done("delete", "ebay", renamed).status == "completed"
    assert len(world.ebay.live(successor.sku)) == 1
    assert world.done("publish", "ebay", renamed).status == "completed"
    assert len(world.ebay.live("renamed")) == 1


@pytest.mark.parametrize("marketplace", ["etsy", "vinted"])
def test_a_listing_that_is_linked_just_before_the_intent_is_updated_instead(
    marketplace: str, world: MarketWorld
) -> None:
    world.etsy.list_by_hand("7", title="Coat")
    world.plugin.items["7"] = {"id": 7, "title": "Coat"}
    product = world.product()
    ref = world.submit("publish", marketplace, product)
    _overtaken(
        world,
        lambda: world.done("link_product", marketplace, product, external_id="7"),
        lambda listing: listing.intent_at is not None,
    )
    assert world.finish(ref).status == "completed"
    assert _record(world, product, marketplace).external_id == "7"
    assert list(world.etsy.listings) == ["7"]
    assert list(world.plugin.items) == ["7"]
    assert not world.plugin.drafts


@pytest.mark.parametrize("marketplace", ["etsy", "vinted", "ebay"])
def test_an_end_that_was_seen_ends_no_later_listing(marketplace: str, world: MarketWorld) -> None:
    """Two syncs find the listing gone; before the second writes this, the product has a new one."""
    world.etsy.visible_after = 0
    product = world.product()
    world.done("publish", marketplace, product)
    former = _record(world, product, marketplace)
    world.clock.advance(600)
    for each in world.ebay.offers.values():
        each["status"] = "UNPUBLISHED"
    world.etsy.listings.clear()
    world.plugin.items.clear()
    ref = world.submit("sync", marketplace, product)

    def overtake() -> None:
        world.done("sync", marketplace, product, reason="again")
        assert world.done("publish", marketplace, product).status == "completed"

    _overtaken(world, overtake, lambda listing: listing.state == "ended")
    assert world.finish(ref).status == "completed"
    standing = _record(world, product, marketplace)
    assert standing.state == "active"
    assert standing.external_id not in (None, former.external_id)


def test_differences_that_were_seen_are_of_no_later_listing(world: MarketWorld) -> None:
    product = world.product()
    world.plugin.items |= {"7": {"title": "Coat"}, "8": {"title": product.content.title}}
    world.done("link_product", "vinted", product, external_id="7")
    ref = world.submit("sync", "vinted", product)

    def overtake() -> None:
        world.done("link_product", "vinted", product, external_id=None)
        world.done("link_product", "vinted", product, external_id="8")

    _overtaken(world, overtake, lambda listing: bool(listing.drift))
    assert world.finish(ref).status == "completed"
    standing = _record(world, product, "vinted")
    assert (standing.external_id, standing.drift) == ("8", ())


def test_a_draft_whose_product_was_linked_meanwhile_is_not_taken(world: MarketWorld) -> None:
    world.etsy.list_by_hand("7", title="Coat")
    product = world.product()
    ref = world.submit("publish", "etsy", product)
    _overtaken(
        world,
        lambda: world.done("link_product", "etsy", product, external_id="7"),
        lambda listing: listing.reference is not None,
    )
    assert world.finish(ref).status == "completed"
    assert _record(world, product).external_id == "7"
    assert [key for key, each in world.etsy.listings.items() if each["state"] == "active"] == ["7"]


def test_a_draft_that_its_product_gave_up_for_a_listing_is_not_published(
    world: MarketWorld,
) -> None:
    world.etsy.list_by_hand("7", title="Coat")
    product = world.product()

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        if name.startswith("PUT"):  # the inventory, just before the publication
            world.web.around = lambda _, serve: serve()
            world.done("link_product", "etsy", product, external_id=None)
            world.done("link_product", "etsy", product, external_id="7")
        return serve()

    world.web.around = around
    job = world.done("publish", "etsy", product)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == ("CONFLICT", "7")
    assert _record(world, product).external_id == "7"
    assert [key for key, each in world.etsy.listings.items() if each["state"] == "active"] == ["7"]


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_product_that_gets_another_sku_before_the_intent_is_listed_by_that_one(
    marketplace: str, world: MarketWorld
) -> None:
    product = world.product()
    ref = world.submit("publish", marketplace, product)
    _overtaken(
        world,
        lambda: world.cataloguing.change_sku(world.tenant, product.id, "NEW-1"),
        lambda listing: listing.intent_at is not None,
    )
    assert world.finish(ref).status == "completed"
    assert _record(world, product, marketplace).sku == "NEW-1"
    world.clock.advance(3600)
    assert world.done("sync", marketplace, product).status == "completed"
    assert world.done("publish", marketplace, world.edit(product, price=9000)).status == "completed"
    assert world.ebay.live(product.sku) == []
    assert len(world.ebay.live("NEW-1")) == (marketplace == "ebay")
    assert len(world.etsy.listings) == (marketplace == "etsy")


def test_a_draft_whose_deletion_is_cancelled_before_the_record_is_known_to_be_gone(
    world: MarketWorld,
) -> None:
    world.etsy.visible_after = 0
    product, direct = world.product(), world.web.around
    refused = StubResponse(400, {"error": "no"})
    world.web.around = lambda name, serve: refused if name.startswith("PUT") else serve()
    assert world.done("publish", "etsy", product).status == "failed"  # leaves a draft
    world.web.around = direct
    ref = world.submit("delete", "etsy", product)
    _overtaken(
        world,
        lambda: world.control.move(ref, Transition.CANCEL),
        lambda listing: listing.state == "ended",
    )
    assert world.finish(ref).status == "cancelled"
    world.clock.advance(600)
    assert world.done("sync", "etsy", product).result == {"state": "ended"}
    assert world.done("publish", "etsy", product).status == "completed"
    assert [_record(world, product).external_id] == list(world.etsy.listings)


@pytest.mark.parametrize("change", ["another SKU", "removal"])
@pytest.mark.parametrize("marketplace", ["ebay", "etsy", "vinted"])
def test_a_product_whose_listing_has_just_begun_keeps_its_sku_and_its_row(
    marketplace: str, change: str, world: MarketWorld
) -> None:
    product, make = world.product(), world.cataloguing
    write, act = world.products.replace, partial(make.change_sku, sku="NEW-1")
    if change == "removal":
        write, act = world.products.remove, make.remove

    def late(*given: Any) -> bool:
        setattr(world.products, write.__name__, write)
        assert world.done("publish", marketplace, product).status == "completed"
        return write(*given)

    setattr(world.products, write.__name__, late)
    with pytest.raises(Conflict):
        act(world.tenant, product.id)
    standing = world.products.get(world.tenant, product.id)
    assert standing is not None
    assert standing.sku == product.sku == _record(world, product, marketplace).sku


def test_a_product_that_gets_another_sku_before_its_link_is_not_linked(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    [listing] = world.ebay.live(product.sku)
    world.done("link_product", "ebay", product, external_id=None)
    ref = world.submit("link_product", "ebay", product, external_id=listing)
    _overtaken(
        world,
        lambda: world.cataloguing.change_sku(world.tenant, product.id, "NEW-1"),
        lambda listing: listing.state == "active",
    )
    job = world.finish(ref)
    assert job.last_error is not None
    assert job.last_error.code == "NEEDS_INPUT"
    assert _record(world, product, "ebay").state == "ended"


@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_listing_that_ended_before_its_record_replaces_no_later_one(
    marketplace: str, world: MarketWorld
) -> None:
    world.etsy.visible_after = 0
    product = world.product()
    ref = world.submit("publish", marketplace, product)

    def overtake() -> None:
        assert world.done("delete", marketplace, product).status == "completed"
        assert world.done("publish", marketplace, product).status == "completed"

    _overtaken(world, overtake, lambda listing: listing.state == "active")
    job = world.finish(ref)
    record = _record(world, product, marketplace)
    assert job.last_error is not None
    assert (job.last_error.code, job.last_error.details["external_id"]) == (
        "CONFLICT",
        record.external_id,
    )
    assert [record.external_id] == [*world.ebay.live(product.sku), *world.etsy.listings]
