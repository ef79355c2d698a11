"""The example marketplace of docs/new-marketplace.md works: its code is read from the page."""

# covers B-09

import itertools
import re
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from spinneret.marketplace.publishing.plans import Platform
from spinneret.marketplace.registry import PLATFORMS
from tests.architecture.conftest import ROOT
from tests.markets.stores import Stores
from tests.markets.web import RecordedRequest, StubResponse
from tests.markets.world import MarketWorld

PAGE = (ROOT / "docs" / "new-marketplace.md").read_text()


class FakeBazaar:
    def __init__(self) -> None:
        self.goods: dict[str, dict[str, Any]] = {}
        self._numbers = itertools.count(1)

    def serve(self, seen: RecordedRequest) -> StubResponse:
        key = seen.path.rpartition("/")[2]
        match seen.method:
            case "POST":
                if float(seen.json["price"]) > 100:
                    return StubResponse(422, {"code": "DEAR", "text": "no"})
                key = str(next(self._numbers))
                self.goods[key] = {**seen.json, "id": key}
                return StubResponse(201, self.goods[key])
            case "GET":
                wanted = seen.query["reference"][0]
                found = [each for each in self.goods.values() if each["reference"] == wanted]
                return StubResponse(200, {"goods": found})
            case "PUT":
                self.goods[key] |= seen.json
                return StubResponse(200, self.goods[key])
        return StubResponse(204 if self.goods.pop(key, None) else 404)


@pytest.fixture
def world(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> MarketWorld:
    [code] = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    module = ModuleType("bazaar")
    monkeypatch.setitem(sys.modules, "bazaar", module)  # pydantic resolves annotations there
    exec(compile(code, "new-marketplace.md", "exec"), vars(module))
    bazaar: Platform = vars(module)["BAZAAR"]
    made = MarketWorld(stores, platforms={**PLATFORMS, "bazaar": bazaar})
    made.web._markets = {"/bazaar": FakeBazaar(), **made.web._markets}
    return made


def _bazaar(world: MarketWorld) -> FakeBazaar:
    found = world.web._markets["/bazaar"]
    assert isinstance(found, FakeBazaar)
    return found


def test_a_product_is_listed_and_ended(world: MarketWorld) -> None:
    product = world.product()
    job = world.done("publish", "bazaar", product)
    assert job.status == "completed", job.last_error
    assert job.result is not None
    assert [job.result["bazaar_id"]] == list(_bazaar(world).goods)
    assert world.done("delete", "bazaar", product).status == "completed"
    assert _bazaar(world).goods == {}


def test_a_lost_answer_lists_it_once(world: MarketWorld) -> None:
    world.web.lost.add(1)
    assert world.done("publish", "bazaar", world.product()).status == "completed"
    assert len(_bazaar(world).goods) == 1


def test_goods_that_lie_there_are_changed_not_doubled(world: MarketWorld) -> None:
    product = world.product()
    world.done("publish", "bazaar", product)
    listing = world.listings.get(world.tenant, product.id, "bazaar")
    assert listing is not None
    # The effect record of this generation is missing, as if it had been purged.
    nameless = replace(listing, generation=9, version=listing.version + 1)
    assert world.listings.save(listing, nameless)
    _bazaar(world).goods["1"]["reference"] = "the seller's own"  # a look-up doesn't find it
    assert world.done("publish", "bazaar", world.edit(product, price=500)).status == "completed"
    [goods] = _bazaar(world).goods.values()
    assert goods["price"] == "5.00"


def test_a_refusal_has_field_and_fix(world: MarketWorld) -> None:
    job = world.done("publish", "bazaar", world.product(price=20_000))
    assert job.last_error is not None
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["hint"]) == ("price", "ask for at most 100.00")


def test_an_action_that_it_lacks_says_so(world: MarketWorld) -> None:
    job = world.done("message", "bazaar")
    assert job.last_error is not None
    assert job.last_error.message == "nobody writes at a bazaar"
