"""The guide's marketplace, taken from the guide, publishes."""

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
from tests.markets.bench import Bench
from tests.markets.stores import Stores
from tests.markets.web import RecordedRequest, StubResponse

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
def bench(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> Bench:
    [code] = re.findall(r"```python\n(.+?)```", PAGE, re.DOTALL)
    module = ModuleType("bazaar")
    monkeypatch.setitem(sys.modules, "bazaar", module)  # pydantic resolves annotations there
    exec(compile(code, "new-marketplace.md", "exec"), vars(module))
    bazaar: Platform = vars(module)["BAZAAR"]
    made = Bench(stores, platforms={**PLATFORMS, "bazaar": bazaar})
    made.web._markets = {"/bazaar": FakeBazaar(), **made.web._markets}
    return made


def _bazaar(bench: Bench) -> FakeBazaar:
    found = bench.web._markets["/bazaar"]
    assert isinstance(found, FakeBazaar)
    return found


def test_a_product_is_listed_and_ended(bench: Bench) -> None:
    product = bench.product()
    job = bench.done("publish", "bazaar", product)
    assert job.status == "completed", job.last_error
    assert job.result is not None
    assert [job.result["bazaar_id"]] == list(_bazaar(bench).goods)
    assert bench.done("delete", "bazaar", product).status == "completed"
    assert _bazaar(bench).goods == {}


def test_a_lost_answer_lists_it_once(bench: Bench) -> None:
    bench.web.lost.add(1)
    assert bench.done("publish", "bazaar", bench.product()).status == "completed"
    assert len(_bazaar(bench).goods) == 1


def test_goods_that_lie_there_are_changed_not_doubled(bench: Bench) -> None:
    product = bench.product()
    bench.done("publish", "bazaar", product)
    listing = bench.listings.get(bench.tenant, product.id, "bazaar")
    assert listing is not None
    # Of the ninth there is no record of its making, as of the first once it is purged.
    nameless = replace(listing, generation=9, version=listing.version + 1)
    assert bench.listings.save(listing, nameless)
    _bazaar(bench).goods["1"]["reference"] = "the seller's own"  # a look-up won't find it
    assert bench.done("publish", "bazaar", bench.edit(product, price=500)).status == "completed"
    [goods] = _bazaar(bench).goods.values()
    assert goods["price"] == "5.00"


def test_a_refusal_has_field_and_fix(bench: Bench) -> None:
    job = bench.done("publish", "bazaar", bench.product(price=20_000))
    assert job.last_error is not None
    [field] = job.last_error.details["fields"]
    assert (field["path"], field["hint"]) == ("price", "ask for at most 100.00")


def test_an_action_that_it_lacks_says_so(bench: Bench) -> None:
    job = bench.done("message", "bazaar")
    assert job.last_error is not None
    assert job.last_error.message == "nobody writes at a bazaar"
