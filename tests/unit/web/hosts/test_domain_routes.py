"""The routes of domain settings."""

import base64
import json
from types import SimpleNamespace
from typing import Any

import pytest

from crawl.domains_routes import router
from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.fetching.addresses import AddressPolicy
from tests.fakes.hosts import Hosts
from tests.fakes.time import HandClock
from tests.unit.runtime.api import Answer
from tests.unit.runtime.refusals import fields_of
from tests.unit.served import Served

DOMAIN = "/api/v1/domains/site.example"
NOW = "2026-01-02T12:00:00.000000Z"
DEFAULTS = {
    "domain": "site.example",
    "rate_limit_rps": None,
    "burst": None,
    "min_gap_seconds": None,
    "circuit_breaker_threshold": None,
    "circuit_breaker_timeout_s": None,
    "notes": None,
    "blocked": False,
    "blocked_reason": None,
    "blocked_at": None,
    "pace": {
        "rate_limit_rps": 1.0,
        "burst": 5,
        "min_gap_seconds": None,
        "circuit_breaker_threshold": 5,
        "circuit_breaker_timeout_s": 300.0,
    },
    "updated_at": None,
}
CLOSED = {"state": "closed", "failures": 0, "opened_at": None, "retry_after_seconds": None}


@pytest.fixture
def routes(hosts: Hosts) -> Served:
    return Served(router, SimpleNamespace(hosts=hosts.service))


def refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    body: dict[str, Any] = answer.body
    assert (answer.status, body["code"]) == (status, code), answer.text
    return body


# ---------------------------------------------------------------- One domain


def test_a_domain_without_settings_has_the_defaults(routes: Served) -> None:
    answer = routes.send("GET", DOMAIN)
    assert answer.status == 200
    assert answer.body == {**DEFAULTS, "blocked_by": None, "circuit": CLOSED}


@pytest.mark.parametrize(
    "spelled", ["SITE.example", "www.site.example", "site.example.", "site%2Eexample"]
)
def test_a_domain_is_found_however_it_is_spelled(routes: Served, spelled: str) -> None:
    assert routes.send("GET", f"/api/v1/domains/{spelled}").body["domain"] == "site.example"


# covers F-09
def test_settings_are_replaced_whole(routes: Served) -> None:
    update = {
        "rate_limit_rps": 0.5,
        "burst": 2,
        "min_gap_seconds": 4,
        "circuit_breaker_threshold": 3,
        "circuit_breaker_timeout_s": 900,
        "notes": "  be kind ",
    }
    expected = {
        **DEFAULTS,
        **update,
        "notes": "be kind",
        "pace": {
            "rate_limit_rps": 0.25,
            "burst": 1,
            "min_gap_seconds": 4.0,
            "circuit_breaker_threshold": 3,
            "circuit_breaker_timeout_s": 900.0,
        },
        "updated_at": NOW,
    }
    answer = routes.send("PUT", DOMAIN, update)
    assert (answer.status, answer.body) == (200, expected)
    assert routes.send("GET", DOMAIN).body == {**expected, "blocked_by": None, "circuit": CLOSED}
    assert routes.send("PUT", DOMAIN, {}).body == {**DEFAULTS, "updated_at": NOW}


@pytest.mark.parametrize(
    "update",
    [
        {"rate_limit_rps": bounds.DOMAIN_RATE, "burst": bounds.DOMAIN_BURST},
        {"rate_limit_rps": bounds.DOMAIN_RATE_MIN},
        {"min_gap_seconds": limits.DOMAIN_GAP_MAX_SECONDS},
        {"burst": 1, "notes": "x" * limits.DOMAIN_NOTES_MAX_CHARS},
        {"rate_limit_rps": None, "burst": None, "min_gap_seconds": None, "notes": None},
        {"circuit_breaker_threshold": limits.BREAKER_FAILURES},
        {"circuit_breaker_threshold": 1},
        {"circuit_breaker_timeout_s": 300},
        {"circuit_breaker_timeout_s": limits.BREAKER_MEMORY_SECONDS},
    ],
)
def test_settings_at_their_bounds_are_taken(routes: Served, update: dict[str, Any]) -> None:
    assert routes.send("PUT", DOMAIN, update).status == 200


INVALID: list[tuple[str, Any]] = [
    ("rate_limit_rps", 1.0001),
    ("rate_limit_rps", 100),
    ("rate_limit_rps", 0),
    ("rate_limit_rps", -1),
    ("rate_limit_rps", bounds.DOMAIN_RATE_MIN / 2),
    ("rate_limit_rps", "1"),
    ("rate_limit_rps", True),
    ("burst", 6),
    ("burst", 0),
    ("burst", 1.5),
    ("min_gap_seconds", 0),
    ("min_gap_seconds", 3600.1),
    ("notes", "x" * 1001),
    ("notes", 7),
    ("circuit_breaker_threshold", 6),
    ("circuit_breaker_threshold", 0),
    ("circuit_breaker_threshold", 2.5),
    ("circuit_breaker_timeout_s", 299.9),
    ("circuit_breaker_timeout_s", 3600.1),
    ("circuit_breaker_timeout_s", "600"),
    ("blocked", True),
    ("tenant", "other"),
]


@pytest.mark.parametrize(("field", "value"), INVALID, ids=[f"{f} {v!r:.30}" for f, v in INVALID])
def test_faster_bolder_malformed_and_foreign_settings_are_refused(
    routes: Served, field: str, value: Any
) -> None:
    body = refused(routes.send("PUT", DOMAIN, {field: value}), 422, "VALIDATION_ERROR")
    assert fields_of(body) == [field]
    assert routes.send("GET", DOMAIN).body["updated_at"] is None


def by_every_route(routes: Served, name: str) -> list[Answer]:
    path = f"/api/v1/domains/{name}"
    return [
        routes.send("GET", path),
        routes.send("PUT", path, {}),
        routes.send("POST", f"{path}/block", {"reason": "why"}),
        routes.send("POST", f"{path}/unblock"),
        routes.send("POST", f"{path}/reset"),
    ]


@pytest.mark.parametrize("name", ["site.example:80", "com", "a..b"])
def test_a_name_that_is_no_host_is_refused_by_every_route(routes: Served, name: str) -> None:
    for answer in by_every_route(routes, name):
        assert fields_of(refused(answer, 422, "VALIDATION_ERROR")) == ["domain"]


@pytest.mark.parametrize("name", ["127.0.0.1", "10.0.0.1", "localhost", "printer.local", "::1"])
def test_a_host_that_no_fetch_may_reach_is_blocked_by_every_route(
    routes: Served, name: str
) -> None:
    for answer in by_every_route(routes, name):
        assert [
            each["path"] for each in refused(answer, 403, "URL_BLOCKED")["details"]["fields"]
        ] == ["domain"]


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "::1", "www.printer.local"])
def test_a_host_that_the_stage_allows_has_settings_like_any_other(
    clock: HandClock, name: str
) -> None:
    policy = AddressPolicy(
        frozenset({"127.0.0.1:8000", "localhost:8001", "[::1]:1", "www.printer.local:631"})
    )
    routes = Served(router, SimpleNamespace(hosts=Hosts(clock, policy).service))
    kept = name.removeprefix("www.")
    for answer in by_every_route(routes, name):
        assert (answer.status, answer.body["domain"]) == (200, kept)
    assert routes.send("PUT", f"/api/v1/domains/{name}", {"burst": 1}).status == 200
    assert routes.send("POST", f"/api/v1/domains/{name}/block", {"reason": "w"}).status == 200
    shown = routes.send("GET", f"/api/v1/domains/{name}").body
    assert (shown["burst"], shown["blocked_by"]) == (1, kept)


# ---------------------------------------------------------------- Blocks


# covers F-09
def test_a_block_has_a_reason_and_is_seen_from_below(routes: Served) -> None:
    blocked = routes.send("POST", f"{DOMAIN}/block", {"reason": " asked us to "})
    assert blocked.status == 200
    assert blocked.body == {
        **DEFAULTS,
        "blocked": True,
        "blocked_reason": "asked us to",
        "blocked_at": NOW,
        "updated_at": NOW,
    }
    assert routes.send("GET", DOMAIN).body["blocked_by"] == "site.example"
    below = routes.send("GET", "/api/v1/domains/shop.site.example").body
    assert (below["blocked"], below["blocked_by"]) == (False, "site.example")
    unblocked = routes.send("POST", f"{DOMAIN}/unblock")
    assert (unblocked.status, unblocked.body["blocked"]) == (200, False)
    assert routes.send("GET", DOMAIN).body["blocked_by"] is None


def test_settings_and_block_leave_each_other_alone(routes: Served) -> None:
    routes.send("POST", f"{DOMAIN}/block", {"reason": "asked us to"})
    assert routes.send("PUT", DOMAIN, {"burst": 2}).body["blocked"]
    assert routes.send("POST", f"{DOMAIN}/unblock").body["burst"] == 2


def test_unblocking_what_was_never_blocked_is_no_error(routes: Served) -> None:
    assert routes.send("POST", f"{DOMAIN}/unblock").body == DEFAULTS
    assert routes.send("GET", "/api/v1/domains").body["items"] == []


@pytest.mark.parametrize(
    "body", [{}, {"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}, {"reason": None}]
)
def test_a_block_without_a_reason_is_refused(routes: Served, body: Any) -> None:
    answer = routes.send("POST", f"{DOMAIN}/block", body)
    assert fields_of(refused(answer, 422, "VALIDATION_ERROR")) == ["reason"]


# ---------------------------------------------------------------- Lists and tenants


# covers F-09
def test_a_list_goes_from_page_to_page(routes: Served) -> None:
    long = ".".join(["x" * 60] * 3) + ".example"
    names = ["2606:4700::1111", "93.184.216.34", "a.example", "b.example", long]
    for name in reversed(names):
        routes.send("PUT", f"/api/v1/domains/{name}", {})
    found: list[str] = []
    query: dict[str, str] = {}
    while True:
        page = routes.send("GET", "/api/v1/domains", limit="2", **query).body
        found += [item["domain"] for item in page["items"]]
        assert page["has_more"] == (page["next_cursor"] is not None)
        if not page["has_more"]:
            break
        query = {"cursor": page["next_cursor"]}
    assert found == names


def test_a_list_can_be_filtered_by_block(routes: Served) -> None:
    routes.send("PUT", DOMAIN, {"burst": 2})
    routes.send("POST", "/api/v1/domains/blocked.example/block", {"reason": "why"})
    for text, names in (("true", ["blocked.example"]), ("false", ["site.example"])):
        items = routes.send("GET", "/api/v1/domains", blocked=text).body["items"]
        assert [item["domain"] for item in items] == names


@pytest.mark.parametrize(
    "query",
    [
        {"cursor": "?"},
        {"cursor": ""},
        {"cursor": base64.urlsafe_b64encode(b"T#other").decode()},
        {"limit": "0"},
        {"limit": "101"},
        {"blocked": "perhaps"},
    ],
)
def test_a_malformed_query_is_refused(routes: Served, query: dict[str, str]) -> None:
    body = refused(routes.send("GET", "/api/v1/domains", **query), 422, "VALIDATION_ERROR")
    assert [field.removeprefix("query.") for field in fields_of(body)] == list(query)


def test_tenants_see_their_own_settings_only(routes: Served) -> None:
    routes.send("PUT", DOMAIN, {"notes": "mine"})
    routes.send("POST", f"{DOMAIN}/block", {"reason": "mine too"})
    foreign = routes.send("GET", DOMAIN, tenant="other")
    assert foreign.body == {**DEFAULTS, "blocked_by": None, "circuit": CLOSED}
    assert routes.send("GET", "/api/v1/domains", tenant="other").body["items"] == []
    routes.send("POST", f"{DOMAIN}/unblock", tenant="other")
    routes.send("PUT", DOMAIN, {}, tenant="other")
    mine = json.loads(routes.send("GET", DOMAIN).text)
    assert (mine["notes"], mine["blocked_reason"]) == ("mine", "mine too")
