"""Names under which settings are stored, and the settings that apply to a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel.errors import UrlBlocked, ValidationFailed
from spinneret.web import limits
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.urls import parse_url
from spinneret.web.hosts import rules
from spinneret.web.hosts.models import HostBlock, HostSettings, Override
from spinneret.web.politeness.models import BreakerLimits, PaceLimits
from spinneret.web.politeness.rules import host_key
from tests.fakes.hosts import PUBLIC_ONLY
from tests.fakes.time import START
from tests.rows import each_row

BLOCK = HostBlock(reason="asked us to", since=START)
SLOW = Override(requests_per_second=0.5, burst=2, min_gap_seconds=3.0)


def settings(domain: str, *, blocked: bool = True) -> HostSettings:
    block = BLOCK if blocked else None
    return HostSettings(tenant="acme", host=domain, override=SLOW, block=block)


# ---------------------------------------------------------------- Names


@each_row(
    (ascii(row), row)
    for row in [
        ("example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("www.example.com", "example.com"),
        ("example.com.", "example.com"),
        ("WWW.Example.com.", "example.com"),
        ("shop.example.com", "shop.example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"),
        ("a_b.example", "a_b.example"),
        ("github.io", "github.io"),
        ("93.184.216.34", "93.184.216.34"),
        ("1572395042", "93.184.216.34"),
        ("2606:4700::1111", "2606:4700::1111"),
        ("[2606:4700::1111]", "2606:4700::1111"),
        ("2606:4700:0:0:0:0:0:1111", "2606:4700::1111"),
        (".".join("a" * limits.DOMAIN_LABELS_MAX), ".".join("a" * limits.DOMAIN_LABELS_MAX)),
    ]
)
def test_a_domain_has_one_name(row: tuple[str, str]) -> None:
    text, domain = row
    assert rules.parse_host(text, PUBLIC_ONLY) == domain


@each_row(
    (ascii(text), text)
    for text in [
        "",
        " ",
        "example.com:80",
        "example.com:",
        "93.184.216.34:80",
        "https://example.com",
        "example.com/page",
        "example.com\\page",
        "example.com?x=1",
        "example.com#top",
        "user@example.com",
        "ex%2Fample.com",
        "example.com%3A80",
        "exa mple.com",
        "example.com\n",
        "*.example.com",
        "example..com",
        ".example.com",
        "a,b.example",
        "x" * 64 + ".example",
        "a." * 127 + "example",
        ".".join("a" * (limits.DOMAIN_LABELS_MAX + 1)),
        "com",
        "www.com",
        "fe80::1%eth0",
        "xn--",
        "\ud800.example",
    ]
)
def test_what_is_not_a_host_has_no_settings(text: str) -> None:
    with pytest.raises(ValidationFailed) as refusal:
        rules.parse_host(text, PUBLIC_ONLY)
    assert [each["path"] for each in refusal.value.details["fields"]] == ["domain"]


@pytest.mark.parametrize(
    "text",
    [
        "localhost",
        "printer.local",
        "metadata.google.internal",
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "::ffff:10.0.0.1",
    ],
)
def test_a_host_is_checked_as_a_submission_s_is(text: str) -> None:
    elsewhere = AddressPolicy(frozenset({"127.0.0.2:80", "other.local:80"}))
    for policy in (PUBLIC_ONLY, elsewhere):
        with pytest.raises(UrlBlocked) as refusal:
            rules.parse_host(text, policy)
        assert [each["path"] for each in refusal.value.details["fields"]] == ["domain"]


@pytest.mark.parametrize(
    ("text", "pair", "domain"),
    [
        ("127.0.0.1", "127.0.0.1:8000", "127.0.0.1"),
        ("2130706433", "127.0.0.1:8000", "127.0.0.1"),
        ("LOCALHOST", "localhost:8000", "localhost"),
        ("[::1]", "[::1]:8000", "::1"),
        ("printer.local", "printer.local:6000", "printer.local"),
    ],
)
def test_a_host_that_the_stage_allows_may_have_settings(text: str, pair: str, domain: str) -> None:
    allowing = AddressPolicy(frozenset({pair}))
    assert rules.parse_host(text, allowing) == domain
    assert rules.host_and_parents(domain)[0] == domain
    with pytest.raises(UrlBlocked):
        rules.parse_host(text, AddressPolicy(frozenset({pair}), denied=frozenset({pair})))


# ---------------------------------------------------------------- Parent domains


@pytest.mark.parametrize(
    ("domain", "names"),
    [
        ("example.com", ("example.com",)),
        ("a.b.example.com", ("a.b.example.com", "b.example.com", "example.com")),
        ("me.github.io", ("me.github.io", "github.io")),
        ("com", ("com",)),
        ("93.184.216.34", ("93.184.216.34",)),
        ("2606:4700::1111", ("2606:4700::1111",)),
    ],
)
def test_settings_of_all_domains_above_concern_a_host(domain: str, names: tuple[str, ...]) -> None:
    assert rules.host_and_parents(domain) == names


def test_a_very_long_name_asks_for_no_more_than_can_have_settings() -> None:
    names = rules.host_and_parents(".".join(["a"] * 120))
    assert len(names) == limits.DOMAIN_LABELS_MAX - 1
    assert names[0].count(".") == limits.DOMAIN_LABELS_MAX - 1
    assert names[-1] == "a.a"


@given(st.from_regex(r"([a-z0-9]{1,5}\.){1,6}(example|io)", fullmatch=True), st.integers(0, 5))
def test_a_block_of_any_domain_above_is_seen_from_below(host: str, up: int) -> None:
    above = host.split(".", min(up, host.count(".") - 1))[-1]
    try:
        blocked = rules.parse_host(above, PUBLIC_ONLY)
    except ValidationFailed:
        return
    assert blocked in rules.host_and_parents(host_key(parse_url(f"http://{host}/").host))


# ---------------------------------------------------------------- Limits of the stage

FAST = PaceLimits(rate=5, burst=20, breaker=BreakerLimits(threshold=8, open_seconds=60))


@pytest.mark.parametrize(
    ("override", "faster"),
    [
        (Override(), []),
        (Override(requests_per_second=5, burst=20, breaker_failures=8, breaker_seconds=60), []),
        (Override(requests_per_second=2, burst=9, breaker_failures=6, breaker_seconds=61), []),
        (Override(requests_per_second=5.1), ["rate_limit_rps"]),
        (Override(burst=21, min_gap_seconds=1), ["burst"]),
        (
            Override(breaker_failures=9, breaker_seconds=59),
            ["circuit_breaker_threshold", "circuit_breaker_timeout_s"],
        ),
    ],
)
def test_settings_can_only_be_slower_than_the_stage(override: Override, faster: list[str]) -> None:
    if not faster:
        rules.require_slower(override, FAST)
        return
    with pytest.raises(ValidationFailed) as refusal:
        rules.require_slower(override, FAST)
    assert [each["path"] for each in refusal.value.details["fields"]] == faster


# ---------------------------------------------------------------- Effective settings


@pytest.mark.parametrize(
    ("host", "blocks", "by"),
    [
        ("example.com", ["example.com"], "example.com"),
        ("a.b.example.com", ["example.com"], "example.com"),
        ("a.b.example.com", ["example.com", "b.example.com"], "b.example.com"),
        ("example.com", ["b.example.com"], None),
        ("notexample.com", ["example.com"], None),
        ("example.com.evil.test", ["example.com"], None),
        ("93.184.216.34", ["93.184.216.34"], "93.184.216.34"),
        ("93.184.216.34", ["216.34"], None),
    ],
)
def test_a_block_holds_for_its_domain_and_all_below(
    host: str, blocks: list[str], by: str | None
) -> None:
    effective = rules.effective("acme", host, map(settings, blocks))
    assert (effective.blocked_by.host if effective.blocked_by else None) == by


def test_an_override_holds_for_its_own_host_only() -> None:
    above = settings("example.com", blocked=False)
    assert rules.effective("acme", "example.com", [above]).pace == rules.pace_of(SLOW)
    below = rules.effective("acme", "shop.example.com", [above])
    assert below.pace == PaceLimits()
    assert below.blocked_by is None
    assert below.settings == HostSettings(tenant="acme", host="shop.example.com")


@pytest.mark.parametrize(
    ("override", "pace"),
    [
        (Override(), PaceLimits()),
        (SLOW, PaceLimits(rate=0.5, burst=2, own_gap_seconds=3.0)),
        (Override(burst=1), PaceLimits(burst=1)),
        (Override(requests_per_second=100.0, burst=100), PaceLimits()),
        (
            Override(breaker_failures=2, breaker_seconds=900.0),
            PaceLimits(breaker=BreakerLimits(threshold=2, open_seconds=900.0)),
        ),
    ],
)
def test_an_override_only_ever_slows_down(override: Override, pace: PaceLimits) -> None:
    assert rules.pace_of(override) == pace
