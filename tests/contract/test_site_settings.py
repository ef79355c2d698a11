"""What every site store holds: the fake, moto, and DynamoDB Local."""

from __future__ import annotations

from datetime import timedelta

import pytest

from spinneret.kernel import bounds
from spinneret.web.hosts.dynamo import DynamoSiteStore
from spinneret.web.hosts.models import Block, DomainSettings, Override
from spinneret.web.hosts.ports import SiteStore
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.sites import FakeSiteStore
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
BLOCK = Block(reason="asked us to 🕷", since=START)


@pytest.fixture
def sites(tables: Tables | None) -> SiteStore:
    if tables is None:
        return FakeSiteStore()
    return DynamoSiteStore(tables.client, tables.names["Domains"])


def stored(sites: SiteStore, tenant: str, domain: str = "site.example") -> DomainSettings | None:
    found = sites.find(tenant, [domain])
    return found[0] if found else None


def listed(
    sites: SiteStore, tenant: str, limit: int = 100, blocked: bool | None = None
) -> list[str]:
    """All domains, page by page."""
    found: list[str] = []
    after = None
    while True:
        page = sites.page(tenant, blocked, after, limit)
        assert len(page.settings) <= limit
        found += [each.domain for each in page.settings]
        if page.after is None:
            return found
        after = page.after


def test_nothing_is_known_of_a_domain_without_settings(sites: SiteStore, tenant: str) -> None:
    assert stored(sites, tenant) is None
    assert sites.find(tenant, []) == ()


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
    sites: SiteStore, tenant: str, override: Override, notes: str | None
) -> None:
    put = sites.put(tenant, "site.example", override, notes, START)
    assert put == DomainSettings(
        tenant=tenant, domain="site.example", override=override, notes=notes, updated_at=START
    )
    assert stored(sites, tenant) == put


def test_a_put_replaces_all_but_the_block(sites: SiteStore, tenant: str) -> None:
    sites.put(tenant, "site.example", SLOW, "be kind", START)
    sites.block(tenant, "site.example", BLOCK)
    put = sites.put(tenant, "site.example", Override(burst=2), None, START + SECOND)
    assert put == DomainSettings(
        tenant=tenant,
        domain="site.example",
        override=Override(burst=2),
        block=BLOCK,
        updated_at=START + SECOND,
    )
    assert stored(sites, tenant) == put


def test_a_block_leaves_the_override(sites: SiteStore, tenant: str) -> None:
    before = sites.put(tenant, "site.example", SLOW, "be kind", START - SECOND)
    blocked = sites.block(tenant, "site.example", BLOCK)
    assert (blocked.override, blocked.notes) == (before.override, before.notes)
    assert (blocked.block, blocked.updated_at) == (BLOCK, START)
    assert stored(sites, tenant) == blocked


def test_a_second_block_replaces_the_first(sites: SiteStore, tenant: str) -> None:
    sites.block(tenant, "site.example", BLOCK)
    again = Block(reason="other", since=START + SECOND)
    assert sites.block(tenant, "site.example", again).block == again


def test_an_unblocked_domain_keeps_its_override(sites: SiteStore, tenant: str) -> None:
    sites.put(tenant, "site.example", SLOW, "be kind", START)
    sites.block(tenant, "site.example", BLOCK)
    expected = DomainSettings(
        tenant=tenant,
        domain="site.example",
        override=SLOW,
        notes="be kind",
        updated_at=START + SECOND,
    )
    assert sites.unblock(tenant, "site.example", START + SECOND) == expected
    assert sites.unblock(tenant, "site.example", START + 2 * SECOND) == expected
    assert stored(sites, tenant) == expected


def test_unblocking_what_has_no_settings_leaves_none(sites: SiteStore, tenant: str) -> None:
    assert sites.unblock(tenant, "site.example", START) is None
    assert stored(sites, tenant) is None


def test_several_domains_are_found_at_once(sites: SiteStore, tenant: str) -> None:
    names = [f"{n}.site.example" for n in range(bounds.DOMAIN_LABELS_MAX)]
    for name in names[::2]:
        sites.put(tenant, name, Override(), None, START)
    assert {each.domain for each in sites.find(tenant, names)} == set(names[::2])


def test_settings_are_listed_by_name_without_a_gap_or_a_repetition(
    sites: SiteStore, tenant: str
) -> None:
    names = [f"{n:02}.site.example" for n in range(7)]
    for name in reversed(names):
        sites.put(tenant, name, Override(), None, START)
    for limit in (1, 2, 6, 7, 8):
        assert listed(sites, tenant, limit) == names


def test_a_filter_asks_for_blocked_or_unblocked_domains(sites: SiteStore, tenant: str) -> None:
    names = [f"{n:02}.site.example" for n in range(6)]
    for name in names:
        sites.put(tenant, name, Override(), None, START)
    for name in names[::2]:
        sites.block(tenant, name, BLOCK)
    sites.unblock(tenant, names[2], START)
    for limit in (1, 2, 100):
        assert listed(sites, tenant, limit, blocked=True) == [names[0], names[4]]
        assert listed(sites, tenant, limit, blocked=False) == [*names[1:4], names[5]]
        assert listed(sites, tenant, limit) == names


def test_a_list_goes_on_behind_a_domain_that_is_gone(sites: SiteStore, tenant: str) -> None:
    for name in ("a.example", "c.example"):
        sites.put(tenant, name, Override(), None, START)
    assert [each.domain for each in sites.page(tenant, None, "b.example", 5).settings] == [
        "c.example"
    ]


def test_tenants_do_not_see_or_change_each_others_settings(sites: SiteStore, tenant: str) -> None:
    other = f"{tenant}x"
    sites.block(tenant, "site.example", BLOCK)
    assert stored(sites, other) is None
    assert listed(sites, other) == []
    assert sites.unblock(other, "site.example", START) is None
    sites.put(other, "site.example", SLOW, None, START)
    mine = stored(sites, tenant)
    assert mine is not None
    assert (mine.block, mine.override) == (BLOCK, Override())
