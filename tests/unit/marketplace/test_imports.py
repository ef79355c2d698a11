"""Import of existing listings: they are matched by SKU, then by title.

An import never takes another product's listing and never creates a product twice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from marketplace.marketplace_routes import router as marketplace_routes
from spinneret.jobs.models import JobRef, Transition
from spinneret.jobs.worker import ReleaseJob
from spinneret.kernel.errors import ValidationFailed
from spinneret.marketplace.imports.models import ImportedListing, ImportOutcome
from spinneret.marketplace.imports.rules import UNFIT_SKU
from spinneret.marketplace.imports.service import ListingImportService
from spinneret.marketplace.limits import IMPORT_PAGE
from spinneret.marketplace.listings.models import Listing, ListingState
from spinneret.marketplace.products.models import Product
from spinneret.marketplace.products.rules import NO_VARIATIONS
from spinneret.marketplace.registry import NOT_IMPORTED
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.markets.crashing import fresh
from tests.markets.web import StubResponse
from tests.markets.world import MarketWorld
from tests.unit.served import Served

Rows = Mapping[str, ImportedListing]


def _rows(world: MarketWorld, job_id: str) -> Rows:
    page = world.stores.imports.page(JobRef(tenant=world.tenant, job_id=job_id), None, 100)
    return {each.external_id: each for each in page.items}


def _imported(world: MarketWorld, marketplace: str, *, create: bool = False) -> Rows:
    world.clock.advance(3600)  # new listings become visible; products are older than the job
    job = world.done("import", marketplace, create=create)
    assert job.status == "completed", job.last_error
    rows = _rows(world, job.id)
    counts = Counter(each.outcome.value for each in rows.values())
    assert job.result == {"listings": len(rows), **counts}
    return rows


def _on_etsy(world: MarketWorld, number: int, title: str, **fields: Any) -> None:
    price = {"amount": 2500, "divisor": 100, "currency_code": "EUR"}
    world.etsy.list_by_hand(str(number), **{"title": title, "quantity": 3, "price": price} | fields)
    world.etsy.images[str(number)] = [{"listing_image_id": number * 10}]


def _of(world: MarketWorld, product: Product, marketplace: str) -> tuple[str | None, str | None]:
    listing = world.listings.get(world.tenant, product.id, marketplace)
    assert listing is not None
    assert listing.state is ListingState.ACTIVE
    return listing.external_id, listing.reference


# covers B-13
def test_listings_are_matched_by_sku_then_by_title_and_conflicts_are_shown(
    world: MarketWorld,
) -> None:
    by_sku, by_title = (
        world.product(title="One"),
        world.product(title="Silk  SCARF e\u0301te\u0301"),
    )
    world.product(title="Twins"), world.product(title="twins ")
    listed = world.product(title="Listed")
    world.done("publish", "etsy", listed)
    [own] = world.etsy.listings
    _on_etsy(world, 11, "Silk scarf", skus=[by_sku.sku])  # the SKU has precedence over the title
    _on_etsy(world, 12, "silk scarf été")
    _on_etsy(world, 13, "Twins")
    _on_etsy(world, 14, "Listed")
    _on_etsy(world, 15, "Nobody's")
    _on_etsy(world, 16, "In sizes", has_variations=True)
    _on_etsy(world, 17, "Not for sale", state="inactive")
    rows = _imported(world, "etsy")
    assert {key: each.outcome.value for key, each in rows.items()} == {
        own: "known",
        "11": "linked",
        "12": "linked",
        "13": "conflict",
        "14": "conflict",
        "15": "unmatched",
        "16": "refused",
    }
    assert _of(world, by_sku, "etsy") == ("11", "11")
    assert _of(world, by_title, "etsy") == ("12", "12")
    assert _of(world, listed, "etsy")[0] == own
    assert len(rows["13"].rivals) == 2
    assert rows["14"].rivals == (listed.id,)
    assert rows["16"].reason == NO_VARIATIONS
    again = Counter(each.outcome for each in _imported(world, "etsy").values())
    assert (again[ImportOutcome.KNOWN], again[ImportOutcome.LINKED]) == (3, 0)


# covers B-13
def test_a_listing_that_another_product_holds_is_never_taken(world: MarketWorld) -> None:
    holder, matching = world.product(title="Coat"), world.product(title="Other")
    _on_etsy(world, 11, "Coat", skus=[matching.sku])
    world.done("link_product", "etsy", holder, external_id="11")
    row = _imported(world, "etsy")["11"]
    assert (row.outcome, row.rivals) == (ImportOutcome.CONFLICT, (matching.id, holder.id))
    assert _of(world, holder, "etsy")[0] == "11"
    assert world.listings.get(world.tenant, matching.id, "etsy") is None


# covers B-13
def test_other_listings_become_products_that_are_updated_and_not_listed_again(
    world: MarketWorld,
) -> None:
    aspects = {"Brand": ["Barbour"], "Colour": ["Navy"], "Fit": ["Slim"], "Season": ["a", "b"]}
    world.ebay.list_by_hand("901", "OWN-1", product={"title": "Wool coat", "aspects": aspects})
    world.ebay.list_by_hand("902", "no sku of ours!", product={"title": "Odd"})
    world.ebay.list_by_hand("903", "OWN-3", item={"groupIds": ["g"]})
    world.ebay.list_by_hand("904", "OWN-4", pricingSummary={})
    _on_etsy(world, 11, "Scarf &amp; belt", tags=["wool", "warm"], taxonomy_id=1837)
    rows = _imported(world, "ebay", create=True)
    assert [each.outcome.value for each in rows.values()] == [
        *("created", "refused", "refused", "refused"),
    ]
    assert rows["902"].reason == UNFIT_SKU  # eBay finds listings by SKU: a sync would miss it
    assert rows["904"].reason == "no product can have the currency none"
    coat = world.products.find(world.tenant, "OWN-1")
    assert coat is not None
    assert (coat.content.title, coat.content.price, coat.content.quantity) == ("Wool coat", 2500, 2)
    assert coat.content.attributes == {
        "brand": "barbour",
        "color": "navy",
        "Fit": "Slim",
        "condition": "good",
    }
    assert coat.overrides["ebay"].category_id == "57988"
    job = world.done("update", "ebay", world.edit(coat, price=2600))
    assert job.status == "completed", job.last_error
    assert world.ebay.calls["_publish"] == world.ebay.calls["_make_image"] == 0
    assert world.ebay.offers["off901"]["pricingSummary"]["price"]["value"] == "26.00"
    assert world.ebay.items["OWN-1"]["product"]["aspects"]["Season"] == ["a", "b"]
    assert _imported(world, "etsy", create=True)["11"].outcome is ImportOutcome.CREATED
    scarf = world.products.find(world.tenant, "etsy11")
    assert scarf is not None
    assert (scarf.content.title, scarf.content.price) == ("Scarf & belt", 2500)
    assert scarf.content.attributes == {"tags": "wool,warm"}
    assert world.done("publish", "etsy", scarf).status == "completed"
    assert world.etsy.calls["_create"] == world.etsy.calls["_upload"] == 0
    world.done("update", "etsy", world.edit(scarf, attributes={}))
    assert world.etsy.listings["11"]["tags"] == []


def test_a_product_that_an_import_creates_is_never_seen_without_its_listing(
    world: MarketWorld,
) -> None:
    _on_etsy(world, 11, "Scarf", taxonomy_id=1837)
    world.web.images["https://i.etsy.example/11/1.jpg"] = b"jpeg"
    world.clock.advance(3600)
    ref, save = world.submit("import", "etsy", create=True), world.listings.save

    def publish() -> None:
        scarf = world.products.find(world.tenant, "etsy11")
        assert scarf is not None
        assert world.done("publish", "etsy", scarf).status == "completed"

    def cancelled(*given: Any) -> bool:
        """Cancel the import and publish the product before the import links its listing."""
        world.listings.save = save  # type: ignore[method-assign]
        world.control.move(ref, Transition.CANCEL)
        publish()
        return save(*given)

    world.listings.save = cancelled  # type: ignore[method-assign]
    world.finish(ref)
    world.listings.save = save  # type: ignore[method-assign]
    publish()
    assert list(world.etsy.listings) == ["11"]


def test_an_order_that_is_read_before_the_import_creates_its_product_counts_afterwards(
    world: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def released(*_: Any) -> Product:
        raise ReleaseJob

    _on_etsy(world, 11, "Scarf", taxonomy_id=1837)
    world.web.images["https://i.etsy.example/11/1.jpg"] = b"jpeg"
    world.clock.advance(3600)
    ref = world.submit("import", "etsy", create=True)
    with monkeypatch.context() as patch:
        patch.setattr(world.cataloguing, "made", released)
        world.once(ref)  # the import reads the listing
    world.queue.take()  # drop the import's message
    world.etsy.sell("", 1)
    world.etsy.receipts[0]["transactions"][0]["listing_id"] = 11
    world.done("orders", "etsy")
    assert [each.outcome for each in world.sales.page(world.tenant, None, 9).items] == [
        "unknown_product"
    ]
    world.clock.advance(900)
    assert world.finish(ref).status == "completed"
    world.polling.run()
    [sale] = world.sales.page(world.tenant, None, 9).items
    product = world.products.find(world.tenant, "etsy11")
    assert product is not None
    assert (sale.outcome, sale.product_id) == ("reserved", product.id)
    assert product.content.quantity == 2  # one sold, of the three that the import read


# covers B-13
def test_on_ebay_a_product_matched_by_title_has_the_listings_sku(world: MarketWorld) -> None:
    """eBay finds listings only by SKU; an import never changes a SKU that the seller chose."""
    made, chosen = world.product(title="Made"), world.product(title="Chosen")
    content = chosen.content
    world.cataloguing.update(world.tenant, chosen.id, "MINE", content, chosen.overrides)
    world.ebay.list_by_hand("901", "OWN-1", product={"title": "made"})
    world.ebay.list_by_hand("902", "OWN-2", product={"title": "chosen"})
    rows = _imported(world, "ebay")
    assert rows["901"].outcome is ImportOutcome.LINKED
    linked = world.products.get(world.tenant, made.id)
    assert linked is not None
    assert linked.sku == "OWN-1"
    assert (rows["902"].outcome, rows["902"].rivals) == (ImportOutcome.CONFLICT, (chosen.id,))
    assert "MINE" in str(rows["902"].reason)


# covers B-13
def test_a_listing_that_a_job_is_just_making_is_known(world: MarketWorld) -> None:
    found: list[Rows] = []

    def around(name: str, serve: Callable[[], StubResponse]) -> StubResponse:
        said = serve()
        if name.endswith("/publish"):
            world.web.around = lambda _, answer: answer()
            ref = world.submit("import", "ebay")
            assert world.once(ref).status == "completed"
            found.append(_rows(world, ref.job_id))
        return said

    world.web.around = around
    product = world.product()
    assert world.done("publish", "ebay", product).status == "completed"
    [row] = found[0].values()
    assert (row.outcome, row.product_id) == (ImportOutcome.KNOWN, product.id)


# covers B-13
def test_a_product_that_changes_while_it_gets_its_sku_keeps_the_change(world: MarketWorld) -> None:
    first, second = world.product(title="First"), world.product(title="Second", quantity=3)
    world.ebay.list_by_hand("901", "OWN-1", product={"title": "first"})
    world.ebay.list_by_hand("902", "OWN-2", product={"title": "second"})
    save = world.listings.save

    def sold_meanwhile(former: Any, listing: Listing, lease: Any) -> bool:
        if listing.product_id == first.id:
            world.edit(second, quantity=2)
        return save(former, listing, lease)

    world.listings.save = sold_meanwhile  # type: ignore[method-assign]
    assert _imported(world, "ebay")["902"].outcome is ImportOutcome.LINKED
    after = world.products.get(world.tenant, second.id)
    assert after is not None
    assert (after.sku, after.content.quantity) == ("OWN-2", 2)


# covers B-13
@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_a_product_that_is_removed_just_before_its_match_keeps_no_listing_and_no_import(
    marketplace: str, world: MarketWorld
) -> None:
    first, second = world.product(title="First"), world.product(title="Second")
    for number, title in (("901", "First"), ("902", "Second")):
        world.ebay.list_by_hand(number, f"OWN-{number}", product={"title": title})
        world.etsy.list_by_hand(number, title=title)
    save = world.listings.save

    def removed_meanwhile(former: Any, listing: Listing, lease: Any) -> bool:
        if listing.product_id == first.id:
            world.cataloguing.remove(world.tenant, second.id)
        return save(former, listing, lease)

    world.listings.save = removed_meanwhile  # type: ignore[method-assign]
    rows = _imported(world, marketplace)
    assert rows["901"].outcome is ImportOutcome.LINKED
    assert (rows["902"].outcome, rows["902"].product_id) == (ImportOutcome.UNMATCHED, None)
    assert world.listings.get(world.tenant, second.id, marketplace) is None


# covers B-13
def test_a_page_of_many_or_long_listings_is_kept_in_rows_that_fit(world: MarketWorld) -> None:
    kept: list[Sequence[ImportedListing]] = []
    keep = world.stores.imports.keep

    def measured(lease: Any, listings: Sequence[ImportedListing], *more: Any) -> None:
        kept.append(listings)
        keep(lease, listings, *more)

    world.stores.imports.keep = measured  # type: ignore[method-assign]
    long = "x" * 500_000
    for number in range(100, 107):
        world.ebay.list_by_hand(str(number), f"OWN-{number}", listingDescription=long)
        for site in ("EBAY_AT", "EBAY_ES", "EBAY_FR", "EBAY_IT"):
            world.ebay.list_elsewhere(str(number), site)
    assert len(_imported(world, "ebay", create=True)) == 35
    assert [len(each) for each in kept] == [IMPORT_PAGE, 35 - IMPORT_PAGE]
    assert {len(row.found.description) for each in kept for row in each if row.found} == {20_000}


@pytest.mark.parametrize("ended", [[100], [124], [110, 111, 124], range(100, 120)])
def test_listings_that_end_during_the_pass_hide_no_other(ended: Iterable[int]) -> None:
    world = fresh(None)
    for number in range(100, 160):  # three pages
        _on_etsy(world, number, f"Scarf {number}")
    keep, kept = world.stores.imports.keep, list[int]()

    def keeping(*arguments: Any) -> None:
        keep(*arguments)
        if not kept:
            for number in ended:
                del world.etsy.listings[str(number)]
        kept.append(len(arguments[1]))

    world.stores.imports.keep = keeping  # type: ignore[method-assign]
    assert set(_imported(world, "etsy")) >= set(world.etsy.listings)
    assert len(kept) <= 5


# covers B-13
def test_a_process_that_dies_at_any_write_reads_no_page_twice_and_makes_nothing_twice() -> None:
    def run(plan: CrashPlan) -> tuple[MarketWorld, list[tuple[str, str]]]:
        world = fresh(None)
        product = world.product(title="Known")
        for number in range(100, 127):  # two pages
            title = "Known" if number == 100 else f"Scarf {number}"
            _on_etsy(world, number, title, skus=[product.sku] if number == 101 else [])
        world.clock.advance(3600)
        ref = world.submit("import", "etsy", create=True)
        for owner, name in (
            (world.stores.imports, "keep"),
            (world.stores.imports, "decide"),
            (world.listings, "save"),
            (world.listings, "add"),
        ):
            setattr(owner, name, _dying(plan, name, getattr(owner, name)))
        try:
            world.finish(ref)
        except Crash:
            world.finish(ref)
        rows = _rows(world, ref.job_id)
        return world, [(key, each.outcome.value) for key, each in rows.items()]

    plan = CrashPlan()
    _, expected = run(plan)
    assert Counter(outcome for _, outcome in expected) == {
        "created": 25,
        "linked": 1,
        "conflict": 1,
    }
    kinds = {name: plan.calls.index(name) + 1 for name in plan.calls}
    for at in {*kinds.values(), len(plan.calls), 40}:
        for moment in Moment:
            world, found = run(CrashPlan(at, moment))
            assert found == expected, (at, moment)
            products = world.products.page(world.tenant, None, 100).items
            assert len({each.sku for each in products}) == len(products) == 26
            held = [world.listings.get(world.tenant, each.id, "etsy") for each in products]
            assert len({each.external_id for each in held if each}) == 26
            assert world.etsy.calls["_newest"] <= 3


def _dying(plan: CrashPlan, name: str, call: Any) -> Any:
    return lambda *given: plan.call(name, call, *given)


# covers B-13
def test_an_import_is_asked_for_and_its_conflicts_are_read_page_by_page(world: MarketWorld) -> None:
    world.product(title="Twins"), world.product(title="Twins")
    for number in range(11, 15):
        _on_etsy(world, number, "Twins" if number % 2 else "Other")
    world.clock.advance(3600)
    imports = ListingImportService(
        jobs=world.publishing, rows=world.stores.imports, reasons=NOT_IMPORTED
    )
    api = Served(marketplace_routes, SimpleNamespace(imports=imports))
    made = api.send("POST", "/api/marketplace/etsy/import", {}, tenant=world.tenant)
    assert (made.status, made.body["action_code"]) == (201, "import")
    job_id = made.body["job_id"]
    world.finish(JobRef(tenant=world.tenant, job_id=job_id))
    path = f"/api/marketplace/jobs/{job_id}/listings"
    wanted = {"outcome": "conflict", "limit": "1"}
    first = api.send("GET", path, tenant=world.tenant, **wanted).body
    second = api.send("GET", path, tenant=world.tenant, **wanted, cursor=first["next_cursor"]).body
    assert [each["external_id"] for each in (*first["items"], *second["items"])] == ["11", "13"]
    assert len(first["items"][0]["rivals"]) == 2
    assert api.send("GET", path, tenant="other").status == 404
    refused = api.send("POST", "/api/marketplace/vinted/import", {}, tenant=world.tenant)
    assert (refused.status, refused.body["code"]) == (422, "UNSUPPORTED")
    assert "link_product" in refused.body["error"]
    assert api.send("POST", "/api/marketplace/bazaar/import", {}).status == 404
    with pytest.raises(ValidationFailed, match="submit one job"):
        world.submit_batch("import", "etsy", [world.product().id])
