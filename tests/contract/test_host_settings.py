"""Contract tests of host stores: the fake, moto, and DynamoDB Local."""

from datetime import timedelta

import pytest

from spinneret.kernel import bounds
from spinneret.web import limits
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.models import HostBlock, HostSettings, Override
from spinneret.web.hosts.ports import HostStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.hosts import FakeHostStore
from tests.fakes.time import START

pytestmark = OF_AWS

SECOND = timedelta(seconds=1)
SLOW = Override(
    requests_per_second=0.1,
    burst=1,
    min_gap_seconds=2.5,
    breaker_failures=2,
    breaker_seconds=450.5,
)
BLOCK = HostBlock(reason="asked us to 🕷", since=START)


@pytest.fixture
def hosts(tables: Tables | None) -> HostStore:
    if tables is None:
        return FakeHostStore()
    return DynamoHostStore(tables.client, tables.names["Domains"])


def stored(hosts: HostStore, tenant: str, domain: str = "site.example") -> HostSettings | None:
    found = hosts.find(tenant, [domain])
    return found[0] if found else None


def listed(
    hosts: HostStore, tenant: str, limit: int = 100, blocked: bool | None = None
) -> list[str]:
    """Return the hosts of all pages."""
    found: list[str] = []
    after = None
    while True:
        page = hosts.page(tenant, blocked, after, limit)
        assert len(page.items) <= limit
        found += [each.host for each in page.items]
        if page.after is None:
            return found
        after = page.after


def test_nothing_is_known_of_a_host_without_settings(hosts: HostStore, tenant: str) -> None:
    assert stored(hosts, tenant) is None
    assert hosts.find(tenant, []) == ()


@pytest.mark.parametrize(
    ("override", "notes"),
    [
        (SLOW, "be kind"),
        (Override(), None),
        (Override(requests_per_second=bounds.DOMAIN_RATE_MIN), "größer"),
        (Override(requests_per_second=1.0), ""),
        (Override(burst=5), None),
        (Override(min_gap_seconds=1e-9), None),
        (Override(min_gap_seconds=0.1 + 0.2), None),
    ],
)
def test_what_was_put_is_found(
    hosts: HostStore, tenant: str, override: Override, notes: str | None
) -> None:
    put = hosts.put(tenant, "site.example", override, notes, START)
    assert put == HostSettings(
        tenant=tenant, host="site.example", override=override, notes=notes, updated_at=START
    )
    assert stored(hosts, tenant) == put


def test_a_put_replaces_all_but_the_block(hosts: HostStore, tenant: str) -> None:
    hosts.put(tenant, "site.example", SLOW, "be kind", START)
    hosts.block(tenant, "site.example", BLOCK)
    put = hosts.put(tenant, "site.example", Override(burst=2), None, START + SECOND)
    assert put == HostSettings(
        tenant=tenant,
        host="site.example",
        override=Override(burst=2),
        block=BLOCK,
        updated_at=START + SECOND,
    )
    assert stored(hosts, tenant) == put


def test_a_block_leaves_the_override(hosts: HostStore, tenant: str) -> None:
    before = hosts.put(tenant, "site.example", SLOW, "be kind", START - SECOND)
    blocked = hosts.block(tenant, "site.example", BLOCK)
    assert (blocked.override, blocked.notes) == (before.override, before.notes)
    assert (blocked.block, blocked.updated_at) == (BLOCK, START)
    assert stored(hosts, tenant) == blocked


def test_a_second_block_replaces_the_first(hosts: HostStore, tenant: str) -> None:
    hosts.block(tenant, "site.example", BLOCK)
    again = HostBlock(reason="other", since=START + SECOND)
    assert hosts.block(tenant, "site.example", again).block == again


def test_an_unblocked_host_keeps_its_override(hosts: HostStore, tenant: str) -> None:
    hosts.put(tenant, "site.example", SLOW, "be kind", START)
    hosts.block(tenant, "site.example", BLOCK)
    expected = HostSettings(
        tenant=tenant,
        host="site.example",
        override=SLOW,
        notes="be kind",
        updated_at=START + SECOND,
    )
    assert hosts.unblock(tenant, "site.example", START + SECOND) == expected
    assert hosts.unblock(tenant, "site.example", START + 2 * SECOND) == expected
    assert stored(hosts, tenant) == expected


def test_unblocking_what_has_no_settings_leaves_none(hosts: HostStore, tenant: str) -> None:
    assert hosts.unblock(tenant, "site.example", START) is None
    assert stored(hosts, tenant) is None


def test_several_hosts_are_found_at_once(hosts: HostStore, tenant: str) -> None:
    names = [f"{n}.site.example" for n in range(limits.DOMAIN_LABELS_MAX)]
    for name in names[::2]:
        hosts.put(tenant, name, Override(), None, START)
    assert {each.host for each in hosts.find(tenant, names)} == set(names[::2])


def test_settings_are_listed_by_name_without_a_gap_or_a_repetition(
    hosts: HostStore, tenant: str
) -> None:
    names = [f"{n:02}.site.example" for n in range(7)]
    for name in reversed(names):
        hosts.put(tenant, name, Override(), None, START)
    for limit in (1, 2, 6, 7, 8):
        assert listed(hosts, tenant, limit) == names


def test_a_filter_asks_for_blocked_or_unblocked_hosts(hosts: HostStore, tenant: str) -> None:
    names = [f"{n:02}.site.example" for n in range(6)]
    for name in names:
        hosts.put(tenant, name, Override(), None, START)
    for name in names[::2]:
        hosts.block(tenant, name, BLOCK)
    hosts.unblock(tenant, names[2], START)
    for limit in (1, 2, 100):
        assert listed(hosts, tenant, limit, blocked=True) == [names[0], names[4]]
        assert listed(hosts, tenant, limit, blocked=False) == [*names[1:4], names[5]]
        assert listed(hosts, tenant, limit) == names


def test_a_list_goes_on_behind_a_host_that_is_gone(hosts: HostStore, tenant: str) -> None:
    for name in ("a.example", "c.example"):
        hosts.put(tenant, name, Override(), None, START)
    assert [each.host for each in hosts.page(tenant, None, "b.example", 5).items] == ["c.example"]


def test_tenants_do_not_see_or_change_each_others_settings(hosts: HostStore, tenant: str) -> None:
    other = f"{tenant}x"
    hosts.block(tenant, "site.example", BLOCK)
    assert stored(hosts, other) is None
    assert listed(hosts, other) == []
    assert hosts.unblock(other, "site.example", START) is None
    hosts.put(other, "site.example", SLOW, None, START)
    mine = stored(hosts, tenant)
    assert mine is not None
    assert (mine.block, mine.override) == (BLOCK, Override())
