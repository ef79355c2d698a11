"""The routes of API keys."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from spinneret.access import limits
from spinneret.access.keys.models import Scope
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection
from tests.fakes.live import FakeConnectionStore, FakeSockets
from tests.unit.runtime.api import GET, ISSUE, Answer, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

KEYS = "/api/v1/api-keys"


@pytest.fixture
def admin(api: Api) -> str:
    """Provide a key of the tenant `acme` with the admin scope."""
    return api.key("acme", Scope.ADMIN)


@pytest.fixture
def sockets() -> FakeSockets:
    return FakeSockets()


@pytest.fixture
def connections(api: Api) -> FakeConnectionStore:
    return FakeConnectionStore(api.crawls.store)


@pytest.fixture(autouse=True)
def live(api: Api, connections: FakeConnectionStore, sockets: FakeSockets) -> LiveService:
    """Add a live service to the services of the core API."""
    api.services.live = LiveService(
        store=api.crawls.store, connections=connections, sockets=sockets, clock=api.crawls.clock
    )
    return api.services.live


def issue(api: Api, key: str, **fields: Any) -> Answer:
    return api.send(ISSUE, key, body={"name": "laptop", "scopes": ["read"], **fields})


def ask(api: Api, key: str, method: str, key_id: str = "", **query: str) -> Answer:
    """Send a request about keys."""
    path = f"{KEYS}/{key_id}" if key_id else KEYS
    request = {"httpMethod": method, "path": path, "queryStringParameters": query or None}
    multi = {name: [value] for name, value in query.items()} or None
    return api.send(ISSUE, key, body="", multiValueQueryStringParameters=multi, **request)


# ---------------------------------------------------------------- Issuing


# covers T-03
def test_a_narrowed_key_uses_only_the_routes_of_its_permissions(api: Api, admin: str) -> None:
    answer = issue(api, admin, scopes=["admin"], permissions=["manage_keys"])
    assert answer.body["permissions"] == ["manage_keys"]
    narrowed = answer.body["secret"]
    assert ask(api, narrowed, "GET").status == 200
    refused = api.send(GET, narrowed)
    assert_refused(refused, 403, "FORBIDDEN")
    assert refused.body["error"] == "the caller lacks the permission view_crawls"
    wider = issue(api, narrowed, permissions=["manage_keys", "crawl"])
    assert_refused(wider, 403, "FORBIDDEN")
    for wrong in ([], ["fly"], "crawl"):
        assert_refused(issue(api, admin, permissions=wrong), 422, "VALIDATION_ERROR")


# covers T-01
def test_an_issued_key_works_and_its_secret_is_shown_once(api: Api, admin: str) -> None:
    answer = issue(api, admin, scopes=["write", "read", "read"], rate_limit_rpm=7)
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    issued = answer.body
    secret = issued.pop("secret")
    assert issued == {
        "key_id": issued["key_id"],
        "name": "laptop",
        "prefix": secret[:8],
        "scopes": ["read", "write"],
        "rate_limit_rpm": 7,
        "is_active": True,
        "permissions": None,
        "created_at": "2026-01-02T12:00:00.000000Z",
        "expires_at": None,
        "revoked_at": None,
    }
    used = api.send(GET, secret)
    assert (used.status, used.headers["RateLimit-Limit"]) == (404, "7")
    shown = [ask(api, admin, "GET"), ask(api, admin, "GET", issued["key_id"])]
    assert shown[1].body == shown[0].body["items"][0] == issued
    for each in shown:
        assert secret not in each.text
        assert "hash" not in each.text


def test_a_key_has_60_requests_a_minute_by_default(api: Api, admin: str) -> None:
    assert issue(api, admin).body["rate_limit_rpm"] == 60


@pytest.mark.parametrize(
    ("spelled", "stored"),
    [
        ("2026-01-02T12:00:01Z", "2026-01-02T12:00:01.000000Z"),
        ("2026-01-02t13:30:00.5+01:00", "2026-01-02T12:30:00.500000Z"),
        ("2035-12-31T00:00:00-11:00", "2035-12-31T11:00:00.000000Z"),
    ],
)
def test_an_end_is_spelled_as_rfc_3339_says(
    api: Api, admin: str, spelled: str, stored: str
) -> None:
    assert issue(api, admin, expires_at=spelled).body["expires_at"] == stored


INVALID: list[tuple[str, Any]] = [
    ("name", ""),
    ("name", "   "),
    ("name", "x" * 101),
    ("name", 7),
    ("name", None),
    ("name", "\ud800"),
    ("scopes", []),
    ("scopes", "read"),
    ("scopes", None),
    ("scopes", ["root"]),
    ("scopes", [7]),
    ("scopes", [["read"]]),
    ("expires_at", "2026-01-02T12:00:00Z"),
    ("expires_at", "2001-01-01T00:00:00Z"),
    ("expires_at", "0001-01-01T00:00:00+14:00"),
    ("expires_at", "9999-12-31T23:59:59-12:00"),
    ("expires_at", "2027-01-01T00:00:00"),
    ("expires_at", "2027-01-01"),
    ("expires_at", "2027-02-30T00:00:00Z"),
    ("expires_at", "1893456000"),
    ("expires_at", 1893456000),
    ("expires_at", True),
    ("rate_limit_rpm", 0),
    ("rate_limit_rpm", 6001),
    ("rate_limit_rpm", 1.5),
    ("rate_limit_rpm", "60"),
    ("rate_limit_rpm", True),
    ("tenant", "other"),
    ("secret", "spn_mine"),
    ("created_at", "2026-01-02T12:00:00Z"),
]


@pytest.mark.parametrize(("field", "value"), INVALID, ids=[f"{f} {v!r:.30}" for f, v in INVALID])
def test_what_a_key_can_not_be_is_refused(api: Api, admin: str, field: str, value: Any) -> None:
    body = json.dumps({"name": "laptop", "scopes": ["read"], field: value})
    answer = api.send(ISSUE, admin, body=body)
    refused = assert_refused(answer, 422, "VALIDATION_ERROR")
    assert {each.partition(".")[0] for each in fields_of(refused)} == {field}
    assert len(api.key_store.keys) == 1


def test_a_key_must_have_a_name(api: Api, admin: str) -> None:
    refused = assert_refused(api.send(ISSUE, admin, body={}), 422, "VALIDATION_ERROR")
    assert fields_of(refused) == ["name"]


def test_a_key_may_only_read_by_default(api: Api, admin: str) -> None:
    assert api.send(ISSUE, admin, body={"name": "laptop"}).body["scopes"] == ["read"]


@pytest.mark.parametrize("name", ["x", "x" * 100, " " + "ü🕷" * 50 + " "])
def test_a_name_of_any_characters_is_kept(api: Api, admin: str, name: str) -> None:
    assert issue(api, admin, name=name).body["name"] == name.strip()


@pytest.mark.parametrize("rate", [1, 6000])
def test_a_rate_at_its_bound_is_taken(api: Api, admin: str, rate: int) -> None:
    assert issue(api, admin, rate_limit_rpm=rate).body["rate_limit_rpm"] == rate


def test_an_issue_can_not_be_replayed(api: Api, admin: str) -> None:
    answer = api.send(ISSUE, admin, headers={"Idempotency-Key": "one"})
    assert fields_of(assert_refused(answer, 422, "VALIDATION_ERROR")) == ["Idempotency-Key"]
    assert len(api.key_store.keys) == 1


def test_over_100_active_keys_are_a_conflict(api: Api, admin: str) -> None:
    for _ in range(limits.KEYS_PER_TENANT - 2):
        api.key()
    assert issue(api, admin).status == 201
    assert_refused(issue(api, admin), 409, "CONFLICT")


# ---------------------------------------------------------------- Listing


def test_keys_are_listed_newest_first_page_by_page(api: Api, admin: str) -> None:
    issued = [issue(api, admin).body["key_id"] for _ in range(4)]
    seen: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    for _ in range(3):
        page = ask(api, admin, "GET", **query).body
        seen += [key["key_id"] for key in page["items"]]
        if not page["has_more"]:
            break
        query["cursor"] = page["next_cursor"]
    assert page["next_cursor"] is None
    assert sorted(issued) == sorted(seen)[1:]  # the first key issued the others
    assert seen == sorted(seen, reverse=True)


@pytest.mark.parametrize(
    ("query", "field"),
    [({"limit": "0"}, "limit"), ({"limit": "101"}, "limit"), ({"cursor": "!"}, "cursor")],
)
def test_a_list_refuses_what_makes_no_sense(
    api: Api, admin: str, query: dict[str, str], field: str
) -> None:
    refused = assert_refused(ask(api, admin, "GET", **query), 422, "VALIDATION_ERROR")
    assert field in str(refused["details"])


# ---------------------------------------------------------------- Revoking


def revoked(api: Api, admin: str, key_id: str) -> None:
    """Revoke a key, and require that the time of its first revocation is shown."""
    answer = ask(api, admin, "DELETE", key_id)
    assert (answer.status, answer.text) == (204, None)
    shown = ask(api, admin, "GET", key_id).body
    assert (shown["is_active"], shown["revoked_at"]) == (False, "2026-01-02T12:00:00.000000Z")


def test_a_revoked_key_is_refused_by_the_next_request(api: Api, admin: str) -> None:
    issued = issue(api, admin).body
    assert api.send(GET, issued["secret"]).status == 404
    revoked(api, admin, issued["key_id"])
    assert_refused(api.send(GET, issued["secret"]), 401, "AUTH_REQUIRED")


def test_to_revoke_again_answers_the_same_and_changes_nothing(api: Api, admin: str) -> None:
    key_id = issue(api, admin).body["key_id"]
    revoked(api, admin, key_id)
    api.crawls.clock.advance(5)
    revoked(api, admin, key_id)


def test_an_expired_key_is_shown_as_inactive(api: Api, admin: str) -> None:
    key_id = issue(api, admin, expires_at="2026-01-02T12:00:01Z").body["key_id"]
    shown = []
    for _ in range(2):
        views = ask(api, admin, "GET", key_id).body, ask(api, admin, "GET").body["items"][0]
        shown += [(view["is_active"], view["revoked_at"]) for view in views]
        api.crawls.clock.advance(1)
    assert shown == [(True, None)] * 2 + [(False, None)] * 2


def test_a_key_may_revoke_itself(api: Api, admin: str) -> None:
    [own] = ask(api, admin, "GET").body["items"]
    assert ask(api, admin, "DELETE", own["key_id"]).status == 204
    assert_refused(ask(api, admin, "GET"), 401, "AUTH_REQUIRED")


def test_a_revoked_key_s_web_sockets_are_ended(
    api: Api, admin: str, live: LiveService, sockets: FakeSockets
) -> None:
    ended, other = (issue(api, admin).body["key_id"] for _ in range(2))
    for key_id in (ended, other):
        live.connect(Connection(id=f"{key_id}=", tenant="acme", key_id=key_id))
    revoked(api, admin, ended)
    assert sockets.ended == [f"{ended}="]


def test_an_outage_of_the_web_sockets_undoes_no_revocation(
    api: Api,
    admin: str,
    live: LiveService,
    connections: FakeConnectionStore,
    sockets: FakeSockets,
    capsys: pytest.CaptureFixture[str],
) -> None:
    issued = issue(api, admin).body
    live.connect(Connection(id="client=", tenant="acme", key_id=issued["key_id"]))
    connections.available = False
    revoked(api, admin, issued["key_id"])
    assert_refused(api.send(GET, issued["secret"]), 401, "AUTH_REQUIRED")
    assert "connections_left" in capsys.readouterr().out
    connections.available = True
    revoked(api, admin, issued["key_id"])
    assert sockets.ended == ["client="]


def test_a_foreign_administrator_ends_no_web_sockets(
    api: Api, admin: str, live: LiveService, sockets: FakeSockets
) -> None:
    key_id = issue(api, admin).body["key_id"]
    live.connect(Connection(id="client=", tenant="acme", key_id=key_id))
    assert ask(api, api.key("other", Scope.ADMIN), "DELETE", key_id).status == 404
    assert sockets.ended == []


def test_unknown_expired_and_revoked_keys_are_refused_alike(api: Api, admin: str) -> None:
    ended, expired = (
        issue(api, admin).body,
        issue(api, admin, expires_at="2026-01-02T12:00:01Z").body,
    )
    ask(api, admin, "DELETE", ended["key_id"])
    api.crawls.clock.advance(1)
    secrets = ("spn_unknown", ended["secret"], expired["secret"])
    answers = [api.send(GET, secret) for secret in secrets]
    assert {answer.status for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1
    assert len({str(answer.headers) for answer in answers}) == 1


# ---------------------------------------------------------------- Unknown keys and other callers


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("key_id", ["key_unknown", "x" * 1100, "..", "key%231", "ü", "ROSTER"])
def test_an_id_of_any_form_is_not_found(api: Api, admin: str, method: str, key_id: str) -> None:
    assert_refused(ask(api, admin, method, key_id), 404, "NOT_FOUND")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_foreign_key_is_as_unknown_as_any(api: Api, admin: str, method: str) -> None:
    issued = issue(api, admin).body
    stranger = api.key("other", Scope.ADMIN)
    foreign = ask(api, stranger, method, issued["key_id"])
    unknown = ask(api, stranger, method, "key_unknown")
    assert (foreign.status, foreign.text) == (404, unknown.text)
    assert api.send(GET, issued["secret"]).status == 404
    assert len(ask(api, stranger, "GET").body["items"]) == 1


REQUESTS: list[Callable[[Api, str], Answer]] = [
    issue,
    lambda api, key: ask(api, key, "GET"),
    lambda api, key: ask(api, key, "GET", "key_1"),
    lambda api, key: ask(api, key, "DELETE", "key_1"),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=["issue", "list", "get", "revoke"])
@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
def test_only_an_administrator_may(
    api: Api, scope: Scope, request_: Callable[[Api, str], Answer]
) -> None:
    key = api.key("acme", scope)
    assert_refused(request_(api, key), 403, "FORBIDDEN")
    assert len(api.key_store.keys) == 1


def test_no_secret_is_logged(api: Api, admin: str, capsys: pytest.CaptureFixture[str]) -> None:
    secret = issue(api, admin).body["secret"]
    api.send(GET, secret)
    out = capsys.readouterr().out
    assert "request_done" in out
    assert secret not in out
    assert admin not in out
