"""Lateness in simulated time, with targets that redirect, hang or crowd a host (M-02)."""

import os
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

import pytest

from spinneret.kernel.errors import FetchFailed
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.targets.models import Options
from spinneret.web.politeness.models import PaceLimits
from tests.fakes.fetching import fetched_page
from tests.unit.monitoring.playing import Playing

HOURS: Final = float(os.environ.get("SPINNERET_WEEK_HOURS", "0.5"))
"""Simulated hours; `make prove` runs a week, 168."""
RATIO: Final = 1.5
PACE: Final = PaceLimits(rate=0.5, burst=3)


@dataclass
class Seen:
    """Statistics of a target's results."""

    interval: int
    checks: int = 0
    skips: int = 0
    worst: float = 0.0
    """Maximum lateness, divided by the interval."""
    outcomes: Counter[str] = field(default_factory=Counter)


class Week:
    """The targets of the scenario; their results are counted, then deleted."""

    def __init__(self, seed: int) -> None:
        self.playing = Playing(seed, PACE)
        self.playing.each_tick = self.count
        self.seen: dict[tuple[str, str], Seen] = {}
        self.named: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)

    def add(self, name: str, tenant: str, url: str, interval: int) -> str:
        world = self.playing.world
        made = world.targets.draft(tenant, url, Options(interval_seconds=interval))
        key = tenant, made.target.id
        world.watch.rows[key] = made
        self.seen[key] = Seen(interval)
        self.named[name].append(key)
        return made.target.canonical_url

    def count(self) -> None:
        watch = self.playing.world.watch
        for key, results in watch._results.items():
            seen = self.seen[key]
            for each in results:
                seen.outcomes[each.outcome] += 1
                if each.outcome is Outcome.SKIPPED_BUSY:
                    seen.skips += 1
                    continue
                seen.checks += 1
                seen.worst = max(seen.worst, each.late_ms / 1000 / seen.interval)
            results.clear()
        self.playing.sites.requests.clear()
        self.playing.sites.seen.clear()


def story(seed: int) -> Week:
    """Return a week with a shop, which two tenants check, a crowd at one host, and lone hosts."""
    week = Week(seed)
    sites = week.playing.sites
    for number in range(12):
        week.add("shop", "acme", f"https://shop.example/{number}", 60)
    sites.hanging.add(week.add("hanging", "acme", "https://shop.example/hangs", 60))
    redirecting = week.add("redirected", "acme", "https://shop.example/leads", 60)
    sites.answers[redirecting] = fetched_page(
        "https://crowded.example/there", b"there", redirects=(redirecting,)
    )
    for number in range(2):
        week.add("guest", "beta", f"https://shop.example/beta/{number}", 30)
        week.add("guest of the crowd", "beta", f"https://crowded.example/beta/{number}", 60)
    for number in range(30):
        week.add("crowd", "crowd", f"https://crowded.example/{number}", 15)
    for number, interval in enumerate((15, 15, 30, 60, 60, 300, 300, 900)):
        week.add("lone", "acme", f"https://h{number}.example/", interval)
        sites.seconds[f"h{number}.example"] = 0.2
    down = FetchFailed("refused", details={"reason": "connection"})
    sites.answers[week.add("down", "beta", "https://down.example/", 30)] = down
    sites.seconds |= {"shop.example": 0.3, "crowded.example": 0.1, "down.example": 0.01}
    return week


# covers M-02
@pytest.mark.heavy
@pytest.mark.timeout(7200)
def test_a_weeks_checks_are_in_time_for_all_that_their_hosts_can_carry() -> None:
    week = story(1)
    week.playing.play(3600 * HOURS)
    week.count()
    for name in ("shop", "hanging", "guest", "guest of the crowd", "lone", "down"):
        for each in map(week.seen.__getitem__, week.named[name]):
            assert each.worst <= RATIO, (name, each)
            assert each.checks >= 0.98 * (3600 * HOURS / each.interval) - 1, (name, each)
    # A redirect to the crowded host waits for that host's rate limit.
    [redirected] = map(week.seen.__getitem__, week.named["redirected"])
    assert redirected.checks > 0
    # The crowd shares nine tenths of the rate equally, less 0.03 for the guests.
    crowd = [week.seen[key].checks for key in week.named["crowd"]]
    assert sum(crowd) > 0.8 * 3600 * HOURS * (0.45 - 2 / 60)
    assert max(crowd) <= 1.2 * min(crowd)
    at_once = week.playing.sites.most_at_once
    assert at_once.pop("*") <= limits.CHECK_CONCURRENCY
    assert set(at_once.values()) == {1}
