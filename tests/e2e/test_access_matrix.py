"""Tests of every operation of the API's document with every credential.

The expected results follow from the document alone, so a new route is tested as soon as it exists.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import pytest

from spinneret.access.permissions import ROLE_PERMISSIONS
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.fixture_tenants import (
    KEYS,
    SCOPES,
    SIGNED,
    Credential,
    FixtureTenant,
    body_for,
    expired_key,
    issued_key,
    signed_in,
)
from tests.e2e.operations import OPERATIONS, Operation, Wire, named, told
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

# make prove tries every operation with every credential, id and spelling.
IS_WHOLE: Final = "SPINNERET_WHOLE_MATRIX" in os.environ
# make test also tries these with every credential.
FIRST: Final = {each.scope: each.id for each in reversed(OPERATIONS)}
WITH_ID: Final = [each for each in OPERATIONS if each.parameters]
CHANGES: Final = [each for each in OPERATIONS if each.method != "GET"]


def _of_areas(operations: Sequence[Operation]) -> Sequence[Operation]:
    """Return the first operation of every third area; in make prove, return all operations."""
    if IS_WHOLE:
        return operations
    return [*{each.area: each for each in reversed(operations)}.values()][::3]


every = pytest.mark.parametrize("operation", OPERATIONS, ids=named)


@pytest.fixture(scope="module")
def fixture_tenant(deployed: Deployed, website: Website) -> Iterator[FixtureTenant]:
    """Yield the tenant on whose objects the credentials are tried."""
    with FixtureTenant.of(deployed, website) as made:
        yield made


@pytest.fixture(scope="module")
def credentials(
    deployed: Deployed, fixture_tenant: FixtureTenant, stranger: Tenant
) -> Mapping[str, Credential]:
    """Provide every kind of credential, valid or not."""
    owner = fixture_tenant.owner
    ended = signed_in(owner, "admin")
    out = {"refresh_token": ended["refresh_token"]}
    assert owner("POST", "/api/v1/auth/logout", out).status_code == 200
    people = {
        f"a person: {role}": Credential(
            {"Authorization": f"Bearer {signed_in(owner, role)['access_token']}"},
            scope="admin",
            permissions=frozenset(map(str, permissions)),
        )
        for role, permissions in ROLE_PERMISSIONS.items()
    }
    narrowed = issued_key(owner, "admin", permissions=["search", "view_jobs"])
    secrets = {scope: issued_key(owner, scope)["secret"] for scope in SCOPES}
    revoked = issued_key(owner, "admin")
    assert owner("DELETE", f"{KEYS}/{revoked['key_id']}").status_code == 204
    tickets = [
        owner("POST", f"/api/v1/jobs/{each['job_id']}/tickets").json()["ticket"]
        for each in (fixture_tenant.objects, fixture_tenant.spares)
    ]
    admin = {"X-API-Key": secrets["admin"]}
    return {
        "none": Credential({}),
        "a wrong key": Credential({"X-API-Key": "spn_wrong"}),
        "a revoked key": Credential({"X-API-Key": revoked["secret"]}),
        "an expired key": Credential({"X-API-Key": expired_key(owner)}),
        "an ended session": Credential({"Authorization": f"Bearer {ended['access_token']}"}),
        "a ticket as key": Credential({"X-API-Key": tickets[0]}),
        "a malformed header": Credential({**admin, "Authorization": "Bearer"}),
        "another scheme": Credential({**admin, "Authorization": f"Basic {secrets['admin']}"}),
        "a wrong ticket": Credential({}, ticket="wrong"),
        "a ticket": Credential({}, scope="read", ticket=tickets[0]),
        "another job's ticket": Credential({}, scope="read", ticket=tickets[1]),
        "a reader": Credential({"X-API-Key": secrets["read"]}, scope="read"),
        "a writer": Credential({"Authorization": f"Bearer {secrets['write']}"}, scope="write"),
        "an administrator": Credential(admin, scope="admin"),
        "a narrowed key": Credential(
            {"X-API-Key": narrowed["secret"]},
            scope="admin",
            permissions=frozenset({"search", "view_jobs"}),
        ),
        "a stranger": Credential({"X-API-Key": stranger.key}, scope="admin"),
        **people,
    }


# covers T-03
@every
def test_an_operation_admits_whom_the_document_says(
    operation: Operation,
    fixture_tenant: FixtureTenant,
    credentials: Mapping[str, Credential],
    wire: Wire,
) -> None:
    path, body = operation.at(fixture_tenant.objects), {} if operation.takes_body else None
    found, expected = {}, {}
    for name, each in _tried(operation, credentials).items():
        query = {"ticket": each.ticket} if each.ticket else None
        reply = wire(operation.method, path, each.headers, query=query, body=body)
        found[name] = str(reply.status) if reply.status in {401, 403} else "passes"
        expected[name] = each.admits(operation)
        assert reply.status < 500, f"{name}: {reply}"
        if name == "another job's ticket" and operation.ticket:
            assert (reply.status, reply.body["code"]) == (404, "NOT_FOUND")
    assert found == expected


@pytest.mark.parametrize("operation", _of_areas(CHANGES), ids=named)
def test_a_header_does_not_change_the_method(
    operation: Operation,
    fixture_tenant: FixtureTenant,
    credentials: Mapping[str, Credential],
    wire: Wire,
) -> None:
    path, reader = operation.at(fixture_tenant.objects), credentials["a reader"].headers
    names = ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")
    if operation.scope not in {None, "read"} and operation.id not in SIGNED:
        reply = wire(operation.method, path, {**reader, **dict.fromkeys(names, "GET")})
        assert (reply.status, reply.body["code"]) == (403, "FORBIDDEN")
    there = wire("GET", path, {**reader, **dict.fromkeys(names, operation.method)})
    assert told(there) == told(wire("GET", path, reader))


@pytest.mark.parametrize("operation", _of_areas(OPERATIONS), ids=named)
def test_no_spelling_of_a_path_leads_past_the_door(
    operation: Operation, fixture_tenant: FixtureTenant, wire: Wire
) -> None:
    path = operation.at(fixture_tenant.objects)
    parent, _, last = path.rpartition("/")
    spellings = [
        f"{path}/",
        path.replace("/", "//"),
        path.upper(),
        f"{parent}%2F{last}",
        f"/health/..{path}",
        f"/docs/%2e%2e{path}",
        f"{path};/health",
        f"{path}%00",
    ]
    requests = [
        *((operation.method, each) for each in spellings),
        ("HEAD", path),
        ("OPTIONS", path),
    ]
    for method, spelling in _share(operation, requests, 3):
        reply = wire(method, spelling)
        assert reply.status < 500, f"{spelling}: {reply}"
        assert operation.scope is None or reply.status >= 400, f"{spelling}: {reply}"


@pytest.mark.parametrize("operation", _of_areas(WITH_ID), ids=named)
def test_an_odd_id_is_the_callers_mistake(
    operation: Operation, fixture_tenant: FixtureTenant, wire: Wire
) -> None:
    key = {"X-API-Key": fixture_tenant.owner.key}
    longest = "a" * (8000 // len(operation.parameters))  # the gateway rejects longer paths
    for odd in _share(operation, (longest, "a" * 1100, "%00", "..%2F..", "%FF"), 2):
        path = operation.at(dict.fromkeys(operation.parameters, odd))
        reply = wire(operation.method, path, key, body=body_for(operation))
        assert 400 <= reply.status < 500, f"{odd[:20]}: {reply}"
        assert reply.status != 401, f"{odd[:20]}: {reply}"


def _share[T](operation: Operation, values: Sequence[T], number: int) -> Sequence[T]:
    """Return `number` values, which differ from the next operation's; in make prove, return all."""
    if IS_WHOLE:
        return values
    first = OPERATIONS.index(operation) * number
    return [values[each % len(values)] for each in range(first, first + number)]


def _tried(operation: Operation, credentials: Mapping[str, Credential]) -> Mapping[str, Credential]:
    """Return all credentials for the first operation of a scope, otherwise one for each refusal.

    Other tests of the deployed stage show who is admitted to the other operations.
    """
    if IS_WHOLE or operation.ticket or operation.id in {*SIGNED, *FIRST.values()}:
        return credentials
    by_answer: dict[str, list[str]] = {}
    for name, each in credentials.items():
        by_answer.setdefault(each.admits(operation), []).append(name)
    if len(by_answer) > 1:
        by_answer.pop("passes", None)
    return {
        name: credentials[name]
        for names in by_answer.values()
        for name in _share(operation, names, 1)
    }
