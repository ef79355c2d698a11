"""How fast a caller may be, and that only the slowest counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.politeness.models import PaceLimits
from spinneret.politeness.rules import site_of, slowest

paces = st.builds(
    PaceLimits,
    rate=st.floats(0.001, 1000),
    burst=st.integers(1, 100),
    min_gap_seconds=st.none() | st.floats(0, 1000),
)


@given(st.lists(paces, min_size=1, max_size=5))
def test_the_slowest_pace_keeps_to_every_one(every: list[PaceLimits]) -> None:
    found = slowest(*every)
    for each in every:
        assert found.interval_ms >= each.interval_ms
        assert found.burst <= each.burst
        assert found.strict >= each.strict
        assert slowest(found, each) == found


@given(st.lists(paces, min_size=1, max_size=5), st.randoms())
def test_the_order_of_paces_does_not_matter(every: list[PaceLimits], random: object) -> None:
    shuffled = list(every)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random
    assert slowest(*shuffled) == slowest(*every)


@given(paces, paces)
def test_a_setting_of_a_tenant_can_only_slow_down(site: PaceLimits, tenant: PaceLimits) -> None:
    found = slowest(site, tenant)
    for seconds in (0.0, 1.0, 60.0, 3600.0):
        most = found.burst + seconds * 1000 / found.interval_ms
        assert most <= site.burst + seconds * site.rate + 1e-6


@pytest.mark.parametrize(
    ("limits", "interval", "strict"),
    [
        (PaceLimits(), 1000, False),
        (PaceLimits(rate=3), 334, False),
        (PaceLimits(rate=40), 25, False),
        (PaceLimits(rate=0.1), 10_000, False),
        (PaceLimits(burst=1), 1000, True),
        (PaceLimits(min_gap_seconds=0.5), 1000, True),
        (PaceLimits(min_gap_seconds=2.0004), 2001, True),
        (PaceLimits(min_gap_seconds=0), 1000, False),
    ],
)
def test_an_interval_is_never_shorter_than_rate_and_gap_say(
    limits: PaceLimits, interval: int, strict: bool
) -> None:
    assert (limits.interval_ms, limits.strict) == (interval, strict)


@pytest.mark.parametrize(
    "given",
    [
        {"rate": 0},
        {"rate": -1},
        {"rate": float("inf")},
        {"rate": float("nan")},
        {"burst": 0},
        {"min_gap_seconds": -1},
        {"min_gap_seconds": float("inf")},
        {"min_gap_seconds": float("nan")},
    ],
)
def test_an_impossible_pace_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="impossible pace"):
        PaceLimits(**given)  # type: ignore[arg-type]  # numbers of a table


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("example.com", "example.com"),
        ("www.example.com", "example.com"),
        ("WWW.EXAMPLE.com.", "example.com"),
        ("www2.example.com", "www2.example.com"),
        ("www.www.example.com", "www.example.com"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_a_site_is_its_host_without_www(host: str, site: str) -> None:
    assert site_of(host) == site
