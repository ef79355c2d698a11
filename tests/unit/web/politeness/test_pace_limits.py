"""Rate limits of a caller: of several limits, the slowest applies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.web.politeness.buckets import split
from spinneret.web.politeness.models import BreakerLimits, OwnBucket, PaceLimits
from spinneret.web.politeness.rules import health_key, host_key, slowest

paces = st.builds(
    PaceLimits,
    rate=st.floats(0.001, 1000),
    burst=st.integers(1, 100),
    min_gap_seconds=st.none() | st.floats(0, 1000),
    own_gap_seconds=st.none() | st.floats(0, 1000),
    breaker=st.builds(
        BreakerLimits, threshold=st.integers(1, 5), open_seconds=st.floats(300, 3600)
    ),
)


@given(st.lists(paces, min_size=1, max_size=5))
def test_the_slowest_pace_keeps_to_every_one(every: list[PaceLimits]) -> None:
    found = slowest(*every)
    for each in every:
        assert found.interval_ms >= each.interval_ms
        assert found.burst <= each.burst
        assert found.strict >= each.strict
        assert found.breaker.threshold <= each.breaker.threshold
        assert found.breaker.open_seconds >= each.breaker.open_seconds
        assert slowest(found, each) == found


@given(st.lists(paces, min_size=1, max_size=5), st.randoms())
def test_the_order_of_paces_does_not_matter(every: list[PaceLimits], random: object) -> None:
    shuffled = list(every)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # a Random
    assert slowest(*shuffled) == slowest(*every)


# covers F-06
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
        (PaceLimits(own_gap_seconds=2), 2000, True),
        (PaceLimits(min_gap_seconds=2, own_gap_seconds=3), 3000, True),
        (PaceLimits(min_gap_seconds=3, own_gap_seconds=2), 3000, True),
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
        {"own_gap_seconds": -1},
        {"own_gap_seconds": float("nan")},
    ],
)
def test_an_impossible_pace_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="impossible pace"):
        PaceLimits(**given)  # type: ignore[arg-type]  # numbers of a table


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": 0},
        {"threshold": 101},
        {"open_seconds": 0},
        {"open_seconds": 3600.1},
        {"open_seconds": float("nan")},
    ],
)
def test_an_impossible_breaker_is_refused(
    given: dict[str, float],
) -> None:
    with pytest.raises(ValueError, match="impossible breaker"):
        BreakerLimits(**given)  # type: ignore[arg-type]  # numbers of a table


# ---------------------------------------------------------------- Limits of host and caller

STAGE = PaceLimits(rate=2, burst=4)
DELAY = PaceLimits(rate=2, burst=4, min_gap_seconds=3)


@pytest.mark.parametrize(
    ("requested", "site", "own"),
    [
        (STAGE, STAGE, None),
        (PaceLimits(rate=100, burst=100), STAGE, None),
        (DELAY, DELAY, None),
        (PaceLimits(rate=1, burst=4), STAGE, PaceLimits(rate=1, burst=4)),
        (PaceLimits(rate=2, burst=3), STAGE, PaceLimits(rate=2, burst=3)),
        (PaceLimits(rate=100, burst=1), STAGE, PaceLimits(rate=2, burst=1)),
        (
            PaceLimits(rate=2, burst=4, own_gap_seconds=0.1),
            STAGE,
            PaceLimits(rate=2, burst=4, own_gap_seconds=0.1),
        ),
        (PaceLimits(rate=1, burst=1, min_gap_seconds=3, own_gap_seconds=3), DELAY, None),
        (
            PaceLimits(rate=2, burst=4, min_gap_seconds=3, own_gap_seconds=4),
            DELAY,
            PaceLimits(rate=2, burst=4, own_gap_seconds=4),
        ),
        (
            PaceLimits(rate=0.1, burst=4, min_gap_seconds=3),
            DELAY,
            PaceLimits(rate=0.1, burst=4),
        ),
    ],
)
def test_what_is_slower_than_the_host_asks_for_is_the_callers_own(
    requested: PaceLimits, site: PaceLimits, own: PaceLimits | None
) -> None:
    assert split(requested, STAGE) == (site, own and OwnBucket(own))


@given(paces, paces, st.floats(0, 10_000))
def test_both_parts_of_a_pace_keep_to_all_of_it(
    requested: PaceLimits, fastest: PaceLimits, seconds: float
) -> None:
    stage = PaceLimits(rate=fastest.rate, burst=fastest.burst)
    site, own = split(requested, stage)
    parts = [site] if own is None else [site, own.limits]
    admitted = min(most_in(seconds, part) for part in parts)
    for bound in (stage, PaceLimits(rate=requested.rate, burst=requested.burst)):
        assert admitted <= most_in(seconds, bound) + 1e-6
    if requested.strict:
        assert any(part.strict for part in parts)
        assert admitted <= 1 + seconds / max(requested.gap_seconds, 1e-9) + 1e-6


def most_in(seconds: float, pace: PaceLimits) -> float:
    burst = 1 if pace.strict else pace.burst
    return burst + seconds * 1000 / pace.interval_ms


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
def test_a_host_is_known_without_www(host: str, site: str) -> None:
    assert host_key(host) == site


@pytest.mark.parametrize(
    ("host", "port", "place"),
    [
        ("WWW.example.com.", None, "example.com"),
        ("www.example.com", 8080, "example.com:8080"),
        ("192.0.2.1", 9, "192.0.2.1:9"),
        ("2001:db8::1", None, "2001:db8::1"),
        ("2001:db8::1", 8080, "[2001:db8::1]:8080"),
    ],
)
def test_answers_are_kept_by_host_and_unusual_port(host: str, port: int | None, place: str) -> None:
    assert health_key(host, port) == place
