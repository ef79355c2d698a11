"""What settings refuse, and how they meet the breaker that all tenants share."""

from __future__ import annotations

from functools import partial

import pytest

from spinneret.kernel.errors import CircuitOpen, DependencyUnavailable, DomainBlocked
from spinneret.web.hosts.models import Override
from spinneret.web.politeness.models import Admitted, Circuit, Outcome, PaceLimits
from tests.fakes.sites import Sites
from tests.fakes.time import HandClock

HOST = "www.site.example"


def fail(sites: Sites, times: int = 5, port: int | None = None) -> None:
    for number in range(times):
        admitted = sites.pace.admit(HOST, owner=f"job-{number}", limits=PaceLimits(), port=port)
        assert isinstance(admitted, Admitted)
        sites.pace.report(admitted, Outcome.SITE_FAILURE)


def visit(sites: Sites, tenant: str, host: str) -> None:
    """What a worker asks before it fetches."""
    sites.settings.require_unblocked(sites.settings.site(tenant, host))


def test_a_site_without_settings_is_asked_at_the_default_pace(sites: Sites) -> None:
    visit(sites, "acme", HOST)
    sites.settings.check_submission("acme", HOST)
    assert sites.settings.limits("acme", HOST) == PaceLimits()


@pytest.mark.parametrize("host", [HOST, "site.example", "SITE.example.", "a.b.site.example"])
def test_a_block_refuses_the_domain_and_all_below_it(sites: Sites, host: str) -> None:
    sites.settings.block("acme", "site.example", "asked us to")
    for check in (partial(visit, sites), sites.settings.check_submission):
        with pytest.raises(DomainBlocked) as refusal:
            check("acme", host)
        assert refusal.value.details == {"domain": "site.example", "reason": "asked us to"}
        check("other", host)
    sites.settings.unblock("acme", "site.example")
    visit(sites, "acme", host)


def test_unblocking_a_domain_leaves_a_block_above_it(sites: Sites) -> None:
    sites.settings.block("acme", "site.example", "asked us to")
    sites.settings.unblock("acme", "shop.site.example")
    with pytest.raises(DomainBlocked):
        visit(sites, "acme", "shop.site.example")


def test_an_override_slows_its_tenant_down_and_nobody_else(sites: Sites) -> None:
    sites.settings.put("acme", "site.example", Override(requests_per_second=0.25), None)
    assert sites.settings.limits("acme", HOST) == PaceLimits(rate=0.25)
    assert sites.settings.limits("acme", "shop.site.example") == PaceLimits()
    assert sites.settings.limits("other", HOST) == PaceLimits()


def test_a_tenants_slow_pace_is_kept_and_delays_nobody_else(sites: Sites, clock: HandClock) -> None:
    slow = Override(requests_per_second=1 / 3600, burst=1, min_gap_seconds=3600)
    sites.settings.put("acme", "site.example", slow, None)

    def outcomes(tenant: str, times: int) -> list[bool]:
        pace = sites.settings.limits(tenant, HOST)
        asked = [sites.pace.admit(HOST, owner=tenant, limits=pace) for _ in range(times)]
        return [isinstance(each, Admitted) for each in asked]

    assert outcomes("acme", 2) == [True, False]
    assert outcomes("other", 5) == [True] * 4 + [False]


def test_a_careful_tenant_stays_away_sooner_and_nobody_else(sites: Sites) -> None:
    sites.settings.put("acme", "site.example", Override(breaker_failures=2), None)
    fail(sites, 2)
    sites.settings.check_submission("other", HOST)
    with pytest.raises(CircuitOpen):
        sites.settings.check_submission("acme", HOST)
    assert sites.settings.get("acme", "site.example").breaker.circuit is Circuit.OPEN
    assert sites.settings.get("other", "site.example").breaker.circuit is Circuit.CLOSED
    sites.settings.reset("acme", "site.example")
    sites.settings.check_submission("acme", HOST)


def test_a_patient_tenant_stays_away_for_longer(sites: Sites, clock: HandClock) -> None:
    sites.settings.put("acme", "site.example", Override(breaker_seconds=900.0), None)
    fail(sites)
    clock.advance(300)
    sites.settings.check_submission("other", HOST)
    with pytest.raises(CircuitOpen) as refusal:
        sites.settings.check_submission("acme", HOST)
    assert refusal.value.retry_after == 600


def test_failures_at_an_unusual_port_refuse_submissions_to_it_alone(sites: Sites) -> None:
    fail(sites, port=9)
    with pytest.raises(CircuitOpen):
        sites.settings.check_submission("acme", HOST, 9)
    for port in (None, 8080):
        sites.settings.check_submission("acme", HOST, port)
    assert sites.settings.get("acme", "site.example", 9).breaker.circuit is Circuit.OPEN
    sites.settings.reset("acme", "site.example", 9)
    sites.settings.check_submission("acme", HOST, 9)


def test_block_and_pace_of_a_host_are_one_look_up(sites: Sites) -> None:
    sites.settings.site("acme", "a.b.c.site.example")
    assert sites.store.finds == 1


def test_an_open_breaker_refuses_submissions_and_says_until_when(
    sites: Sites, clock: HandClock
) -> None:
    fail(sites)
    clock.advance(100)
    with pytest.raises(CircuitOpen) as refusal:
        sites.settings.check_submission("acme", HOST)
    assert refusal.value.retry_after == 200
    visit(sites, "acme", HOST)
    sites.settings.check_submission("acme", "shop.site.example")
    clock.advance(200)
    sites.settings.check_submission("acme", HOST)


def test_a_block_is_named_before_an_open_breaker(sites: Sites) -> None:
    fail(sites)
    sites.settings.block("acme", "site.example", "asked us to")
    with pytest.raises(DomainBlocked):
        sites.settings.check_submission("acme", HOST)


def test_a_reset_closes_the_breaker_for_everybody(sites: Sites) -> None:
    fail(sites)
    assert sites.settings.get("other", "site.example").breaker.circuit is Circuit.OPEN
    state = sites.settings.reset("acme", "site.example")
    assert (state.breaker.circuit, state.breaker.failures) == (Circuit.CLOSED, 0)
    sites.settings.check_submission("other", HOST)


def test_a_store_that_is_down_refuses_nobody_by_mistake(sites: Sites) -> None:
    sites.store.available = False
    with pytest.raises(DependencyUnavailable):
        visit(sites, "acme", HOST)
    sites.store.available = True
    sites.ledger.available = False
    with pytest.raises(DependencyUnavailable):
        sites.settings.check_submission("acme", HOST)
