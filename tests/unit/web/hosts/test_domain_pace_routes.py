"""The routes of domain settings show the rate limit and the breaker that are enforced."""

import itertools
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from crawl.domains_routes import router
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from tests.fakes.hosts import Hosts
from tests.fakes.time import START, HandClock
from tests.unit.runtime.refusals import fields_of
from tests.unit.served import Served

DOMAIN = "/api/v1/domains/site.example"
NOW = "2026-01-02T12:00:00.000000Z"
CLOSED = {"state": "closed", "failures": 0, "opened_at": None, "retry_after_seconds": None}


@pytest.fixture
def routes(hosts: Hosts) -> Served:
    return Served(router, SimpleNamespace(hosts=hosts.service))


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"rate_limit_rps": 0.5, "burst": 2},
        {"rate_limit_rps": 0.25},
        {"burst": 3},
        {"burst": 1},
        {"rate_limit_rps": 0.25, "burst": 1},
        {"min_gap_seconds": 4},
        {"min_gap_seconds": 0.5},
        {"rate_limit_rps": 0.1, "min_gap_seconds": 4},
        {"burst": 2, "min_gap_seconds": 4},
    ],
)
def test_the_pace_that_is_shown_is_the_one_that_is_enforced(
    routes: Served, hosts: Hosts, clock: HandClock, update: dict[str, Any]
) -> None:
    shown = routes.send("PUT", DOMAIN, update).body["pace"]
    assert routes.send("GET", DOMAIN).body["pace"] == shown
    [listed] = routes.send("GET", "/api/v1/domains").body["items"]
    assert listed["pace"] == shown
    moments: list[float] = []
    for _ in range(1000 * 60):
        outcome = hosts.pace.admit(
            "site.example",
            owner="job",
            limits=hosts.service.limits("acme", "site.example"),
            reserved=True,
        )
        if isinstance(outcome, Permit):
            moments.append((clock.now - START).total_seconds())
            hosts.pace.report(outcome, HostOutcome.SUCCESS)
            continue
        if outcome.until > START + timedelta(seconds=60):
            break
        clock.now = outcome.until
    assert moments.count(0.0) == shown["burst"]
    later = [then - first for first, then in itertools.pairwise(moments) if first > 0]
    assert later
    assert later == pytest.approx([1 / shown["rate_limit_rps"]] * len(later), abs=0.0011)
    if shown["min_gap_seconds"] is not None:
        assert min(later) >= shown["min_gap_seconds"]


# ---------------------------------------------------------------- Breaker


def test_the_breaker_is_shown_and_reset(routes: Served, hosts: Hosts, clock: HandClock) -> None:
    for number in range(5):
        admitted = hosts.pace.admit("site.example", owner=f"job-{number}", limits=PaceLimits())
        assert isinstance(admitted, Permit)
        hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)
    shown = {"state": "open", "failures": 5, "opened_at": NOW, "retry_after_seconds": 300.0}
    assert routes.send("GET", DOMAIN).body["circuit"] == shown
    clock.advance(300)
    half_open = routes.send("GET", DOMAIN, tenant="other").body["circuit"]
    assert half_open == {**shown, "state": "half_open", "retry_after_seconds": 0.0}
    answer = routes.send("POST", f"{DOMAIN}/reset")
    assert (answer.status, answer.body["circuit"]) == (200, CLOSED)


def test_the_breaker_of_a_port_is_shown_and_reset(routes: Served, hosts: Hosts) -> None:
    for number in range(5):
        admitted = hosts.pace.admit(
            "site.example", owner=f"job-{number}", limits=PaceLimits(), port=8080
        )
        assert isinstance(admitted, Permit)
        hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)

    def state(**query: str) -> str:
        found: str = routes.send("GET", DOMAIN, **query).body["circuit"]["state"]
        return found

    assert state(port="8080") == "open"
    assert {state(), state(port="80"), state(port="443"), state(port="9")} == {"closed"}
    answer = routes.send("POST", f"{DOMAIN}/reset", port="8080")
    assert (answer.status, answer.body["circuit"]) == (200, CLOSED)


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_what_is_no_port_is_refused(routes: Served, port: str) -> None:
    for answer in (
        routes.send("GET", DOMAIN, port=port),
        routes.send("POST", f"{DOMAIN}/reset", port=port),
    ):
        body = answer.body
        assert (answer.status, body["code"]) == (422, "VALIDATION_ERROR")
        assert [field.removeprefix("query.") for field in fields_of(body)] == ["port"]


def test_the_breaker_is_shown_by_the_tenants_own_limits(routes: Served, hosts: Hosts) -> None:
    routes.send("PUT", DOMAIN, {"circuit_breaker_threshold": 1, "circuit_breaker_timeout_s": 600})
    admitted = hosts.pace.admit("site.example", owner="job", limits=PaceLimits())
    assert isinstance(admitted, Permit)
    hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)
    mine = {"state": "open", "failures": 1, "opened_at": NOW, "retry_after_seconds": 600.0}
    assert routes.send("GET", DOMAIN).body["circuit"] == mine
    others = routes.send("GET", DOMAIN, tenant="other").body["circuit"]
    assert others == {**CLOSED, "failures": 1}
