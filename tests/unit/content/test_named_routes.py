"""Collections and tags through their API routes; their names are unique within a tenant."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from aws_lambda_powertools.event_handler.router import APIGatewayRouter

from search import collections_routes, tags_routes
from spinneret.content.collections.service import CollectionService
from spinneret.content.tags.service import TagService
from spinneret.kernel.paging import Page
from tests.fakes.named import FakeNamedStore
from tests.fakes.time import HandClock
from tests.unit.served import Served


@dataclass(frozen=True)
class Domain:
    """Routes and properties of collections or tags."""

    path: str
    id_field: str
    name_chars: int
    router: APIGatewayRouter
    page_of: Callable[[Any, Any], Any]
    service: Callable[..., Any]


COLLECTIONS = Domain(
    path="/api/v1/collections",
    id_field="collection_id",
    name_chars=100,
    router=collections_routes.router,
    page_of=lambda rows, after: Page(items=rows, after=after),
    service=CollectionService,
)
TAGS = Domain(
    path="/api/v1/tags",
    id_field="tag_id",
    name_chars=50,
    router=tags_routes.router,
    page_of=lambda rows, after: Page(items=rows, after=after),
    service=TagService,
)


@pytest.fixture(params=[COLLECTIONS, TAGS], ids=["collections", "tags"])
def domain(request: pytest.FixtureRequest) -> Domain:
    chosen: Domain = request.param
    return chosen


@pytest.fixture
def store(domain: Domain) -> FakeNamedStore[Any]:
    return FakeNamedStore(domain.page_of)


@pytest.fixture
def api(domain: Domain, store: FakeNamedStore[Any]) -> Served:
    numbers = count(1)
    service = domain.service(
        store=store,
        clock=HandClock(),
        new_id=lambda prefix: f"{prefix}_{next(numbers):04}",
    )
    return Served(domain.router, service)


# covers S-01
def test_one_is_made_read_changed_and_deleted(api: Served, domain: Domain) -> None:
    made = api.send("POST", domain.path, {"name": " silk "})
    assert (made.status, made.body["name"]) == (201, "silk")
    one = f"{domain.path}/{made.body[domain.id_field]}"
    assert api.send("GET", one).body == made.body
    changed = api.send("PUT", one, {"name": "webs"})
    assert (changed.status, changed.body["name"]) == (200, "webs")
    assert api.send("DELETE", one).status == 204
    assert api.send("GET", one).status == 404
    assert api.send("DELETE", one).status == 404


def test_a_name_is_the_tenants_only_one(api: Served, domain: Domain) -> None:
    api.send("POST", domain.path, {"name": "silk"})
    other = api.send("POST", domain.path, {"name": "webs"}).body[domain.id_field]
    for method, path in (("POST", domain.path), ("PUT", f"{domain.path}/{other}")):
        refused = api.send(method, path, {"name": "silk"})
        assert (refused.status, refused.body["code"]) == (409, "CONFLICT")
        assert [each["path"] for each in refused.body["details"]["fields"]] == ["name"]
    assert api.send("POST", domain.path, {"name": "silk"}, tenant="globex").status == 201


def test_a_list_is_newest_first_and_goes_on_by_its_cursor(api: Served, domain: Domain) -> None:
    for name in ("one", "two", "three"):
        api.send("POST", domain.path, {"name": name})
    first = api.send("GET", domain.path, limit="2").body
    assert [each["name"] for each in first["items"]] == ["three", "two"]
    rest = api.send("GET", domain.path, cursor=first["next_cursor"]).body
    assert [each["name"] for each in rest["items"]] == ["one"]
    assert (rest["has_more"], rest["next_cursor"]) == (False, None)


def test_another_tenants_is_unknown(api: Served, domain: Domain) -> None:
    made = api.send("POST", domain.path, {"name": "silk"}).body[domain.id_field]
    for method, body in (("GET", None), ("PUT", {"name": "x"}), ("DELETE", None)):
        assert api.send(method, f"{domain.path}/{made}", body, tenant="globex").status == 404
    assert api.send("GET", domain.path, tenant="globex").body["items"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x", "colour": "red"}, "colour"),
    ],
)
def test_what_is_none_is_refused_by_its_field(
    api: Served, domain: Domain, body: dict[str, object], field: str
) -> None:
    refused = api.send("POST", domain.path, body)
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == [field]


def test_a_table_that_does_not_answer_is_said_so(
    api: Served, domain: Domain, store: FakeNamedStore[Any]
) -> None:
    store.available = False
    assert api.send("GET", domain.path).status == 503


def test_a_name_has_a_greatest_length(api: Served, domain: Domain) -> None:
    for chars, status in ((domain.name_chars, 201), (domain.name_chars + 1, 422)):
        assert api.send("POST", domain.path, {"name": "x" * chars}).status == status


@pytest.mark.parametrize("domain", [TAGS], ids=["tags"])
def test_tags_are_lower_case(api: Served, domain: Domain) -> None:
    assert api.send("POST", domain.path, {"name": "Silk"}).body["name"] == "silk"
    assert api.send("POST", domain.path, {"name": "SILK"}).status == 409


@pytest.mark.parametrize("domain", [COLLECTIONS], ids=["collections"])
def test_a_collection_may_be_described(api: Served, domain: Domain) -> None:
    made = api.send("POST", domain.path, {"name": "silk", "description": "threads"})
    assert made.body["description"] == "threads"
    changed = api.send("PUT", f"{domain.path}/{made.body['collection_id']}", {"name": "webs"})
    assert changed.body["description"] is None
    refused = api.send("POST", domain.path, {"name": "x", "description": "y" * 1001})
    assert [each["path"] for each in refused.body["details"]["fields"]] == ["description"]
