"""Refusals by a tenant's settings, and the breaker that all tenants share."""

from functools import partial

import pytest

from spinneret.kernel.errors import CircuitOpen, DependencyUnavailable, DomainBlocked
from spinneret.web.hosts.models import Override
from spinneret.web.politeness.models import Circuit, HostOutcome, PaceLimits, Permit
from tests.fakes.hosts import Hosts
from tests.fakes.time import HandClock

HOST = "www.site.example"


def fail(hosts: Hosts, times: int = 5, port: int | None = None) -> None:
    for number in range(times):
        admitted = hosts.pace.admit(HOST, owner=f"job-{number}", limits=PaceLimits(), port=port)
        assert isinstance(admitted, Permit)
        hosts.pace.report(admitted, HostOutcome.HOST_FAILURE)


def visit(hosts: Hosts, tenant: str, host: str) -> None:
    """Check the host as a worker does before it fetches."""
    hosts.service.require_unblocked(hosts.service.effective(tenant, host))


def test_a_host_without_settings_is_asked_at_the_default_pace(hosts: Hosts) -> None:
    visit(hosts, "acme", HOST)
    hosts.service.check_submission("acme", HOST)
    assert hosts.service.limits("acme", HOST) == PaceLimits()


@pytest.mark.parametrize("host", [HOST, "site.example", "SITE.example.", "a.b.site.example"])
def test_a_block_refuses_the_domain_and_all_below_it(hosts: Hosts, host: str) -> None:
    hosts.service.block("acme", "site.example", "asked us to")
    for check in (partial(visit, hosts), hosts.service.check_submission):
        with pytest.raises(DomainBlocked) as refusal:
            check("acme", host)
        assert refusal.value.details == {"domain": "site.example", "reason": "asked us to"}
        check("other", host)
    hosts.service.unblock("acme", "site.example")
    visit(hosts, "acme", host)


def test_unblocking_a_domain_leaves_a_block_above_it(hosts: Hosts) -> None:
    hosts.service.block("acme", "site.example", "asked us to")
    hosts.service.unblock("acme", "shop.site.example")
    with pytest.raises(DomainBlocked):
        visit(hosts, "acme", "shop.site.example")


def test_an_override_slows_its_tenant_down_and_nobody_else(hosts: Hosts) -> None:
    hosts.service.put("acme", "site.example", Override(requests_per_second=0.25), None)
    assert hosts.service.limits("acme", HOST) == PaceLimits(rate=0.25)
    assert hosts.service.limits("acme", "shop.site.example") == PaceLimits()
    assert hosts.service.limits("other", HOST) == PaceLimits()


def test_a_tenants_slow_pace_is_kept_and_delays_nobody_else(hosts: Hosts, clock: HandClock) -> None:
    slow = Override(requests_per_second=1 / 3600, burst=1, min_gap_seconds=3600)
    hosts.service.put("acme", "site.example", slow, None)

    def outcomes(tenant: str, times: int) -> list[bool]:
        pace = hosts.service.limits(tenant, HOST)
        asked = [hosts.pace.admit(HOST, owner=tenant, limits=pace) for _ in range(times)]
        return [isinstance(each, Permit) for each in asked]

    assert outcomes("acme", 2) == [True, False]
    assert outcomes("other", 5) == [True] * 4 + [False]


def test_a_careful_tenant_stays_away_sooner_and_nobody_else(hosts: Hosts) -> None:
    hosts.service.put("acme", "site.example", Override(breaker_failures=2), None)
    fail(hosts, 2)
    hosts.service.check_submission("other", HOST)
    with pytest.raises(CircuitOpen):
        hosts.service.check_submission("acme", HOST)
    assert hosts.service.get("acme", "site.example").breaker.circuit is Circuit.OPEN
    assert hosts.service.get("other", "site.example").breaker.circuit is Circuit.CLOSED
    hosts.service.reset("acme", "site.example")
    hosts.service.check_submission("acme", HOST)


def test_a_patient_tenant_stays_away_for_longer(hosts: Hosts, clock: HandClock) -> None:
    hosts.service.put("acme", "site.example", Override(breaker_seconds=900.0), None)
    fail(hosts)
    clock.advance(300)
    hosts.service.check_submission("other", HOST)
    with pytest.raises(CircuitOpen) as refusal:
        hosts.service.check_submission("acme", HOST)
    assert refusal.value.retry_after == 600


def test_failures_at_an_unusual_port_refuse_submissions_to_it_alone(hosts: Hosts) -> None:
    fail(hosts, port=9)
    with pytest.raises(CircuitOpen):
        hosts.service.check_submission("acme", HOST, 9)
    for port in (None, 8080):
        hosts.service.check_submission("acme", HOST, port)
    assert hosts.service.get("acme", "site.example", 9).breaker.circuit is Circuit.OPEN
    hosts.service.reset("acme", "site.example", 9)
    hosts.service.check_submission("acme", HOST, 9)


def test_block_and_pace_of_a_host_are_one_look_up(hosts: Hosts) -> None:
    hosts.service.effective("acme", "a.b.c.site.example")
    assert hosts.store.finds == 1


def test_fetches_read_settings_once_in_five_seconds_and_a_block_anew(
    hosts: Hosts, clock: HandClock
) -> None:
    def is_blocked() -> bool:
        return hosts.service.recent("acme", HOST).blocked_by is not None

    assert not is_blocked()
    hosts.service.block("acme", "site.example", "not ours")
    clock.advance(4.9)
    assert (is_blocked(), hosts.store.finds) == (False, 1)
    clock.advance(0.1)
    assert is_blocked()
    hosts.service.unblock("acme", "site.example")
    assert not is_blocked()


def test_an_open_breaker_refuses_submissions_and_says_until_when(
    hosts: Hosts, clock: HandClock
) -> None:
    fail(hosts)
    clock.advance(100)
    with pytest.raises(CircuitOpen) as refusal:
        hosts.service.check_submission("acme", HOST)
    assert refusal.value.retry_after == 200
    visit(hosts, "acme", HOST)
    hosts.service.check_submission("acme", "shop.site.example")
    clock.advance(200)
    hosts.service.check_submission("acme", HOST)


def test_a_block_is_named_before_an_open_breaker(hosts: Hosts) -> None:
    fail(hosts)
    hosts.service.block("acme", "site.example", "asked us to")
    with pytest.raises(DomainBlocked):
        hosts.service.check_submission("acme", HOST)


def test_a_reset_closes_the_breaker_for_everybody(hosts: Hosts) -> None:
    fail(hosts)
    assert hosts.service.get("other", "site.example").breaker.circuit is Circuit.OPEN
    state = hosts.service.reset("acme", "site.example")
    assert (state.breaker.circuit, state.breaker.failures) == (Circuit.CLOSED, 0)
    hosts.service.check_submission("other", HOST)


def test_a_store_that_is_down_refuses_nobody_by_mistake(hosts: Hosts) -> None:
    hosts.store.available = False
    with pytest.raises(DependencyUnavailable):
        visit(hosts, "acme", HOST)
    hosts.store.available = True
    hosts.ledger.available = False
    with pytest.raises(DependencyUnavailable):
        hosts.service.check_submission("acme", HOST)
