"""Every request is valid by the marketplaces' own API descriptions; every error id has a meaning.

Needs MARKETPLACE_CONTRACTS, because this repository may not contain the descriptions.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from spinneret.marketplace.ebay.errors import MEANINGS
from spinneret.marketplace.refusals import ErrorClass
from tests.markets import contracts
from tests.markets.ebay import SCOPES
from tests.markets.stores import Stores, in_memory
from tests.markets.world import MarketWorld

pytestmark = pytest.mark.skipif(
    not contracts.FOLDER.is_dir(), reason="MARKETPLACE_CONTRACTS names no folder"
)


@pytest.fixture
def stores() -> Stores:
    """Provide stores in memory: the requests don't depend on the kind of store."""
    return in_memory()


def test_every_error_id_has_field_cause_fix_and_class() -> None:
    ids = contracts.error_ids()
    assert len(ids) >= 361
    assert ids - set(MEANINGS) == set()
    assert all(each.field and each.cause and each.fix for each in MEANINGS.values())


def test_a_fault_of_ebay_itself_is_no_refusal() -> None:
    """eBay's descriptions call eBay's own faults APPLICATION.

    Of these, 25401 and 25402 are warnings and 25726 isn't a fault.
    """
    own = contracts.error_ids("APPLICATION") - {"25401", "25402", "25726"}
    assert len(own) >= 12
    assert {MEANINGS[each].error_class for each in own} == {ErrorClass.FAULT, ErrorClass.READ_BACK}
    assert {each for each in own if MEANINGS[each].error_class is ErrorClass.READ_BACK} == {"25025"}


# covers B-06
@pytest.mark.parametrize("marketplace", ["ebay", "etsy"])
def test_every_request_is_valid_by_the_published_description(
    marketplace: str, world: MarketWorld
) -> None:
    product = world.product()
    world.choosing.read(world.tenant, marketplace, None)
    chosen = {
        "etsy": {"return_policy": "51", "shop_section": "61"},
        "ebay": {"location": "store-1"},
    }
    world.preferring.change(world.tenant, marketplace, None, {}, chosen[marketplace])
    world.done("publish", marketplace, product)
    edited = world.edit(product, price=7000, quantity=2, title="Warm coat")
    world.done("update", marketplace, edited)
    world.done("update", marketplace, world.edit(edited, price=6900, quantity=3))
    world.done("sync", marketplace, edited)
    world.done("orders", marketplace)
    if marketplace == "ebay":
        world.done("message", "ebay", None, text="hello", conversation_id="c1")
        world.ebay.preferred_aspects = {"Fit": ["Slim"]}
        world.planner.plan(world.tenant, "ebay", "publish", [product.id])
    world.done("import", marketplace)
    world.done("delete", marketplace, edited)
    if marketplace == "ebay":
        world.planner.plan(world.tenant, "ebay", "publish", [product.id])
        assert world.ebay.calls["_violations"] == world.ebay.calls["_fees"] == 1
    assert len(world.web.seen) > 15
    described = [seen for seen in world.web.seen if contracts.is_described(seen)]
    assert [problem for seen in described for problem in contracts.problems(seen)] == []


def test_the_fake_asks_for_the_tokens_that_the_descriptions_ask_for() -> None:
    for start, (is_public, scopes) in SCOPES.items():
        [document] = [
            each.document
            for each in contracts.documents()
            if each.base.rstrip("/") == start.rstrip("/")
        ]
        scheme = document["components"]["securitySchemes"]["api_auth"]
        assert ("authorizationCode" not in scheme["flows"]) is is_public, start
        asked = [
            frozenset(each["api_auth"])
            for operations in document["paths"].values()
            for operation in operations.values()
            if isinstance(operation, dict)
            for each in operation.get("security", ())
        ]
        assert any(scopes & each for each in asked), start


def test_a_wrong_request_is_seen(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "ebay", product)
    [put] = [
        seen for seen in world.web.seen if seen.method == "PUT" and "inventory_item" in seen.path
    ]
    without = {name: each for name, each in put.headers.items() if name != "content-language"}
    wrong = type(put)(put.method, put.path, put.query, without, b'{"condition": "BRAND_NEW"}')
    found = contracts.problems(wrong)
    assert any("Content-Language" in each for each in found)
    assert any("condition" in each for each in found)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda body: body, None),
        (lambda body: body.replace(b'name="rank"', b'name="place"'), "the field place is unknown"),
        (lambda body: body.replace(b"\r\n\r\n1\r\n", b"\r\n\r\nfirst\r\n"), "rank"),
        (lambda body: body.replace(b'; filename="image"', b""), "the field image isn't a file"),
        (lambda body: body.replace(b"jpeg", b""), "the field image isn't a file"),
        (lambda body: b"nothing", "no parts"),
    ],
)
def test_a_wrong_upload_is_seen(
    change: Callable[[bytes], bytes], found: str | None, world: MarketWorld
) -> None:
    world.done("publish", "etsy", world.product())
    upload = next(each for each in world.web.seen if each.path.endswith("/images"))
    problems = contracts.problems(replace(upload, body=change(upload.body)))
    assert (problems == []) if found is None else any(found in each for each in problems)
