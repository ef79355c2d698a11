"""Tags through their routes."""

from __future__ import annotations

from itertools import count

import pytest

from search.tags_routes import router
from spinneret.content.tags.models import TagPage
from spinneret.content.tags.service import TagService
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import HandClock
from tests.unit.served import Served

PATH = "/api/v1/tags"


@pytest.fixture
def store() -> FakeNamedStore[object]:
    return FakeNamedStore(lambda rows, after: TagPage(tags=rows, after=after))


@pytest.fixture
def api(store: FakeNamedStore[object]) -> Served:
    numbers = count(1)
    service = TagService(
        store=store,  # type: ignore[arg-type]  # of any row
        clock=HandClock(),
        new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
    )
    return Served(router, service)


def test_a_tag_is_made_read_changed_and_deleted(api: Served) -> None:
    made = api.send("POST", PATH, {"name": " Silk "})
    assert (made.status, made.body["name"]) == (201, "silk")
    one = f"{PATH}/{made.body['tag_id']}"
    assert api.send("GET", one).body == made.body
    changed = api.send("PUT", one, {"name": "webs"})
    assert (changed.status, changed.body["name"]) == (200, "webs")
    assert api.send("DELETE", one).status == 204
    assert api.send("GET", one).status == 404
    assert api.send("DELETE", one).status == 404


def test_a_name_is_the_tenants_only_one(api: Served) -> None:
    api.send("POST", PATH, {"name": "silk"})
    other = api.send("POST", PATH, {"name": "webs"}).body["tag_id"]
    for method, path in (("POST", PATH), ("PUT", f"{PATH}/{other}")):
        refused = api.send(method, path, {"name": "SILK"})
        assert (refused.status, refused.body["code"]) == (409, "CONFLICT")
        assert refused.body["details"] == {"field": "name"}
    assert api.send("POST", PATH, {"name": "silk"}, tenant="globex").status == 201


def test_a_list_is_newest_first_and_goes_on_by_its_cursor(api: Served) -> None:
    for name in ("one", "two", "three"):
        api.send("POST", PATH, {"name": name})
    first = api.send("GET", PATH, limit="2").body
    assert [each["name"] for each in first["items"]] == ["three", "two"]
    rest = api.send("GET", PATH, cursor=first["next_cursor"]).body
    assert [each["name"] for each in rest["items"]] == ["one"]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)


def test_another_tenants_tag_is_unknown(api: Served) -> None:
    made = api.send("POST", PATH, {"name": "silk"}).body["tag_id"]
    for method, body in (("GET", None), ("PUT", {"name": "x"}), ("DELETE", None)):
        assert api.send(method, f"{PATH}/{made}", body, tenant="globex").status == 404
    assert api.send("GET", PATH, tenant="globex").body["items"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 51}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x", "colour": "red"}, "colour"),
    ],
)
def test_what_is_no_tag_is_refused_by_its_field(
    api: Served, body: dict[str, object], field: str
) -> None:
    refused = api.send("POST", PATH, body)
    assert refused.status == 422
    assert [each["field"] for each in refused.body["details"]["fields"]] == [field]


def test_a_table_that_does_not_answer_is_said_so(
    api: Served, store: FakeNamedStore[object]
) -> None:
    store.available = False
    assert api.send("GET", PATH).status == 503
