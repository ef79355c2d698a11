"""No operation of the API's document reads or changes the objects of another tenant."""

import json
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.fixture_tenants import PUBLIC, FixtureTenant, body_for
from tests.e2e.operations import OPERATIONS, Operation, Wire, named, told
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

with_id = pytest.mark.parametrize(
    "operation", [each for each in OPERATIONS if each.parameters], ids=named
)


@pytest.fixture(scope="module")
def foreign(deployed: Deployed, website: Website) -> Iterator[FixtureTenant]:
    """Yield a tenant whose objects only strangers request."""
    with FixtureTenant.of(deployed, website) as made:
        yield made


# covers T-04
@with_id
def test_a_foreign_id_is_answered_as_an_unknown_one(
    operation: Operation, foreign: FixtureTenant, stranger: Tenant, wire: Wire
) -> None:
    if operation.scope is None:
        return  # the objects are public
    unknown = {name: _twin(value) for name, value in foreign.objects.items()}
    changes = operation.method != "GET"
    before = changes and _as_its_owner_sees_it(operation, foreign, wire)
    replies = [
        wire(
            operation.method,
            operation.at(values),
            {"X-API-Key": stranger.key},
            body=body_for(operation),
        )
        for values in (foreign.objects, unknown)
    ]
    seen = [
        told(reply, values)
        for reply, values in zip(replies, (foreign.objects, unknown), strict=True)
    ]
    assert seen[0] == seen[1]
    assert (changes and _as_its_owner_sees_it(operation, foreign, wire)) == before


# covers T-04
def test_lists_show_what_is_the_callers_and_nothing_else(
    foreign: FixtureTenant, deployed: Deployed, wire: Wire
) -> None:
    made = (*foreign.objects.items(), *foreign.spares.items())
    ids = {value for name, value in made if name not in PUBLIC}
    owner, newcomer = foreign.owner, deployed.tenant(scope="admin")
    shown: set[str] = set()
    for operation in OPERATIONS:
        if operation.method != "GET" or operation.scope is None or operation.path.endswith("}"):
            continue
        for path in {operation.at(foreign.objects), operation.at(foreign.spares)}:
            own = wire("GET", path, {"X-API-Key": owner.key}, query={"limit": "100"})
            shown |= {each for each in ids if each in own.text}
        if operation.parameters:
            continue
        page = wire("GET", operation.path, {"X-API-Key": owner.key}, query={"limit": "1"})
        cursor = page.body.get("next_cursor")
        for query in ({}, {"cursor": cursor} if cursor else {}):
            reply = wire("GET", operation.path, {"X-API-Key": newcomer.key}, query=query)
            assert [each for each in ids if each in reply.text] == [], operation.path
    newcomer.close()
    assert shown == ids


def test_an_idempotency_key_is_the_callers_own(
    foreign: FixtureTenant, stranger: Tenant, website: Website
) -> None:
    key, body = uuid4().hex, {"url": f"{website.url}/page?text=same"}
    first, again, other = (
        tenant("POST", "/api/v1/crawl", body, Idempotency_Key=key)
        for tenant in (foreign.owner, foreign.owner, stranger)
    )
    assert first.status_code == 202, first.text
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert other.json()["job_id"] != first.json()["job_id"]
    assert "Idempotent-Replayed" not in other.headers


def _twin(known: str) -> str:
    """Return an id of the same form that no object has."""
    stem, dot, rest = known.partition(".")
    return stem[:-1] + ("0" if stem[-1] != "0" else "1") + dot + rest


def _as_its_owner_sees_it(operation: Operation, fixture_tenant: FixtureTenant, wire: Wire) -> str:
    """Return the object of an operation as its owner reads it; empty if no operation reads it."""
    subject = operation.path[: operation.path.rindex("}") + 1]
    for each in OPERATIONS:
        if (each.method, each.path) == ("GET", subject):
            reply = wire(
                "GET", each.at(fixture_tenant.objects), {"X-API-Key": fixture_tenant.owner.key}
            )
            return json.dumps(told(reply))
    return ""
