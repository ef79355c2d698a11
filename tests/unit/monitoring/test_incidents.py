"""Effects of consecutive checks (M-04): status, incidents, events, certificates, content."""

# covers M-04
# covers M-05

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.incidents.models import IncidentStatus, StateChange
from spinneret.monitoring.incidents.rules import pause, step
from spinneret.monitoring.targets.models import (
    Options,
    QuietHours,
    Status,
    Target,
    TargetState,
    TargetWithState,
)
from spinneret.web.fetching.models import Certificate
from tests.fakes.time import START

OUTCOMES = {
    "u": Outcome.UP,
    "d": Outcome.DOWN,
    "s": Outcome.DEGRADED,
    "?": Outcome.UNKNOWN,
    "b": Outcome.SKIPPED_BUSY,
}
SHORT = {
    Status.PENDING: "p",
    Status.UP: "U",
    Status.DEGRADED: "S",
    Status.DOWN: "D",
}
MINUTE = timedelta(minutes=1)


class Timeline:
    """One target whose checks are a minute apart."""

    def __init__(self, **options: Any) -> None:
        target = Target(
            tenant="acme",
            id="t_1",
            url="https://site.example",
            canonical_url="https://site.example/",
            host="site.example",
            created_at=START,
            updated_at=START,
            options=Options(**({"interval_seconds": 60} | options)),
        )
        self.watched = TargetWithState(target=target, state=TargetState(sequence=1, due_at=START))
        self.now = START
        self.steps: list[StateChange] = []

    def check(self, outcome: Outcome, **fields: Any) -> StateChange:
        failed = outcome in {Outcome.DOWN, Outcome.DEGRADED}
        error = CheckError(code="HTTP_ERROR", message="answered 500") if failed else None
        given = {"latency_ms": 100, "error": error} | fields
        result = CheckResult(
            id=f"res_{len(self.steps)}", checked_at=self.now, outcome=outcome, late_ms=0, **given
        )
        made = step(self.watched, result, self.now + MINUTE)
        self.steps.append(made)
        self.watched = replace(self.watched, state=made.state)
        self.now += MINUTE
        return made

    def run(self, outcomes: str) -> str:
        """Run checks with these outcomes, and return the status after each."""
        return "".join(SHORT[self.check(OUTCOMES[each]).state.status] for each in outcomes)

    @property
    def reports(self) -> list[str]:
        return [report.type for made in self.steps for report in made.reports]

    @property
    def state(self) -> TargetState:
        return self.watched.state


@pytest.mark.parametrize(
    ("outcomes", "statuses", "reports"),
    [
        ("uuu", "UUU", []),
        ("ud", "UU", []),
        ("uddu", "UUUU", []),
        ("uddd", "UUUD", ["target.down"]),
        ("ddd", "ppD", ["target.down"]),
        ("uddduu", "UUUDDU", ["target.down", "target.up"]),
        ("uddduduu", "UUUDDDDU", ["target.down", "target.up"]),
        ("udududud", "UUUUUUUU", []),
        ("uss", "UUU", []),
        ("usss", "UUUS", ["target.degraded"]),
        ("usssuu", "UUUSSU", ["target.degraded", "target.up"]),
        ("usssusu", "UUUSSSS", ["target.degraded"]),
        ("usssddd", "UUUSSSD", ["target.degraded", "target.down"]),
        ("udddss", "UUUDDS", ["target.down", "target.degraded"]),
        ("udddssuu", "UUUDDSSU", ["target.down", "target.degraded", "target.up"]),
        ("udddsu", "UUUDDU", ["target.down", "target.up"]),
        ("ud?d?d", "UUUUUD", ["target.down"]),
        ("udbdbd", "UUUUUD", ["target.down"]),
        ("u????", "UUUUU", []),
        ("ubbbbbbb", "UUUUUUUU", ["target.skipped"]),
    ],
)
def test_status_follows_from_checks_in_a_row(
    outcomes: str, statuses: str, reports: list[str]
) -> None:
    line = Timeline()
    assert line.run(outcomes) == statuses
    assert line.reports == reports


def test_thresholds_are_the_owners() -> None:
    line = Timeline(failure_threshold=1, recovery_threshold=3)
    assert line.run("uduuu") == "UDDDU"


def test_an_incident_begins_with_the_first_failure_and_ends_with_the_confirmation() -> None:
    line = Timeline()
    line.run("udd")
    opened = line.check(Outcome.DOWN).incident
    assert opened is not None
    assert (opened.started_at, opened.status) == (START + MINUTE, Status.DOWN)
    assert line.check(Outcome.DOWN).incident is None
    other = CheckError(code="FETCH_TIMEOUT", message="too slow")
    news = line.check(Outcome.DOWN, error=other).incident
    assert news is not None
    assert news.entry is not None
    assert (news.id, news.entry.message) == (opened.id, "too slow")
    assert line.check(Outcome.UP).incident is None
    closed = line.check(Outcome.UP).incident
    assert closed is not None
    assert (closed.id, closed.ended_at, closed.status) == (
        opened.id,
        START + 7 * MINUTE,
        Status.UP,
    )
    assert line.state.incident is None
    line.run("ddd")
    following = line.steps[-1].incident
    assert following is not None
    assert following.id != opened.id


def test_a_timeline_is_bounded_and_still_says_how_it_ended() -> None:
    line = Timeline()
    line.run("ddd")
    for number in range(limits.INCIDENT_ENTRIES + 20):
        line.check(Outcome.DOWN, error=CheckError(code="X", message=str(number)))
    line.run("uu")
    entries = [made.incident.entry for made in line.steps if made.incident]
    written = [each for each in entries if each is not None]
    assert len(written) == limits.INCIDENT_ENTRIES + 1
    assert written[-1].status is IncidentStatus.UP


def test_another_value_of_the_same_cause_is_no_news() -> None:
    line = Timeline()
    for milliseconds in range(1001, 1010):
        cause = "not met: time < 1s"
        message = f"{cause} (time is {milliseconds} ms)"
        line.check(
            Outcome.DOWN, error=CheckError(code="CONDITION_FAILED", message=message, cause=cause)
        )
    line.check(Outcome.DOWN)
    entries = [made.incident.entry for made in line.steps if made.incident]
    assert [each and each.message for each in entries] == [
        "not met: time < 1s (time is 1003 ms)",
        "answered 500",
    ]


def test_failures_in_maintenance_are_nobodys_fault() -> None:
    line = Timeline()
    line.run("u")
    for _ in range(5):
        line.check(Outcome.DOWN, in_maintenance=True)
    assert (line.state.status, line.state.failures) == (Status.UP, 0)
    assert line.reports == []
    line.check(Outcome.UP)
    assert line.state.hour is not None
    tally = line.state.hour.tally
    assert (tally.up_ms, tally.down_ms, tally.maintenance_down_ms) == (60_000, 0, 300_000)
    assert (tally.checks, tally.failed) == (7, 0)


def test_what_is_reported_says_what_happened() -> None:
    line = Timeline(name="Shop")
    line.run("uddd")
    [report] = line.steps[-1].reports
    incident = line.state.incident
    assert incident is not None
    assert report.data == {
        "target_id": "t_1",
        "url": "https://site.example",
        "name": "Shop",
        "summary": "Shop is down: answered 500",
        "status": "down",
        "from": "up",
        "since": "2026-01-02T12:03:00.000000Z",
        "status_code": None,
        "latency_ms": 100,
        "error": "answered 500",
        "incident_id": incident.id,
        "incident_started_at": "2026-01-02T12:01:00.000000Z",
    }


def test_the_hours_of_three_missed_daily_checks_fit_into_one_write() -> None:
    line = Timeline(interval_seconds=limits.CHECK_INTERVAL_MAX_SECONDS)
    line.check(Outcome.DOWN)
    line.now += timedelta(days=9)
    closed = line.check(Outcome.UP).closed
    assert sum(each.tally.down_ms for each in closed) == 3 * 24 * 3_600_000
    days = {each.hour.date() for each in closed}
    assert len(closed) + 2 * len(days) + 10 < 100  # transaction limit; 10: state, incident, events


def reports_at(line: Timeline, steps: str) -> list[str]:
    """Check at the given times and return the reports.

    `21:58d` is a failure at 21:58, on the next day if that time has passed.
    """
    found = []
    for each in steps.split():
        hour, minute = int(each[:2]), int(each[3:5])
        at = line.now.replace(hour=hour, minute=minute)
        line.now = at if at >= line.now else at + timedelta(days=1)
        made = line.check(OUTCOMES[each[5]], body_sha256="b" if each[6:] else "a")
        found += [f"{each[:5]} {report.type}" for report in made.reports]
    return found


@pytest.mark.parametrize(
    ("steps", "reports"),
    [
        ("21:57u 21:59d 22:00d", ["21:59 target.down"]),
        ("21:57u 22:00d 23:00d 06:59d 07:00d", ["07:00 target.down"]),
        ("21:57u 22:00d 23:00u 07:00u", []),
        ("21:50u 21:51d 23:00u 23:30u 07:00u", ["21:51 target.down", "07:00 target.up"]),
        ("21:50u 21:51d 23:00u 06:00d 07:00d", ["21:51 target.down"]),
        ("21:57u 22:00d 07:00? 07:01d", ["07:01 target.down"]),
        ("21:57u 22:00d 08:00d 09:29d 09:30d", ["08:00 target.down", "09:30 target.reminder"]),
        (
            "12:30d 14:00d 14:30d 15:30d",
            ["12:30 target.down", "14:00 target.reminder", "15:30 target.reminder"],
        ),
        ("21:50u 23:00u! 07:00u!", ["07:00 content.changed"]),
        ("21:50b 22:10b 22:20b 22:30b", []),
        ("21:50b 22:10b 22:20b 22:30b 07:00b 07:10b", ["07:00 target.skipped"]),
        ("21:50b 22:10b 22:20b 22:30b 07:00u 07:10b", []),
        ("12:00b 12:10b 12:20b 12:30b 12:40b", ["12:30 target.skipped"]),
    ],
)
def test_quiet_hours_hold_reports_back_and_reminders_come_while_it_lasts(
    steps: str, reports: list[str]
) -> None:
    line = Timeline(
        failure_threshold=1,
        recovery_threshold=1,
        reminder_minutes=90,
        watch_content=True,
        quiet_hours=QuietHours(start="23:00", end="08:00", timezone="Europe/Berlin"),
    )
    assert reports_at(line, steps) == reports


def certificate(days: float, lifetime: float = 90) -> Certificate:
    end = START + timedelta(days=days)
    return Certificate(
        subject="CN=site.example",
        issuer="CN=Authority",
        names=("site.example",),
        not_before=end - timedelta(days=lifetime),
        not_after=end,
    )


@pytest.mark.parametrize(
    ("life", "lifetime", "options", "warned_at"),
    [
        (30, 90, {}, [9, 16, 23]),
        (30, 90, {"certificate_days": (1,)}, [29]),
        (30, 90, {"certificate_days": ()}, []),
        (5, 6, {}, [3]),  # a lifetime of six days: a warning for the last two
        (10, 90, {}, [0, 3]),  # one warning replaces the missed ones
    ],
)
def test_the_end_of_a_certificate_is_announced_once_for_each_day_that_is_named(
    life: float, lifetime: float, options: dict[str, Any], warned_at: list[int]
) -> None:
    line = Timeline(**options)
    found = certificate(life, lifetime)
    days = []
    for day in range(int(life)):
        for _ in range(2):
            line.now = START + timedelta(days=day)
            if line.check(Outcome.UP, certificate=found).reports:
                days.append(day)
    assert days == warned_at


def test_certificates_that_take_turns_are_announced_once_each() -> None:
    line = Timeline(certificate_days=(20, 7))
    one, other = certificate(19), certificate(15)
    for _ in range(3):
        line.check(Outcome.UP, certificate=one)
        line.check(Outcome.UP, certificate=other)
    assert line.reports == ["certificate.expiring"] * 2
    line.now = START + timedelta(days=10)
    for _ in range(3):
        line.check(Outcome.UP, certificate=other)
        line.check(Outcome.UP, certificate=certificate(90))
    assert line.reports == ["certificate.expiring"] * 3
    line.now = START + timedelta(days=71)
    line.check(Outcome.UP, certificate=certificate(90))
    assert line.reports == ["certificate.expiring"] * 4


def test_a_new_certificate_is_announced_anew() -> None:
    line = Timeline(certificate_days=(20,))
    line.check(Outcome.UP, certificate=certificate(19))
    line.check(Outcome.UP, certificate=certificate(19))
    line.check(Outcome.DOWN)
    line.check(Outcome.UP, certificate=certificate(18))
    assert line.reports == ["certificate.expiring"] * 2


@pytest.mark.parametrize(
    ("watching", "hashes", "reports"),
    [
        (True, ["a", "a", "b", "b", "a"], 2),
        (True, ["a", None, "a"], 0),
        (True, ["a", None, "b"], 1),
        (False, ["a", "b"], 0),
    ],
)
def test_a_body_that_changes_is_reported_to_who_asked(
    watching: bool, hashes: list[str | None], reports: int
) -> None:
    line = Timeline(watch_content=watching)
    for each in hashes:
        line.check(Outcome.UP, body_sha256=each)
    assert line.reports == ["content.changed"] * reports


def test_an_error_page_is_no_new_content() -> None:
    line = Timeline(watch_content=True)
    line.check(Outcome.UP, body_sha256="a")
    line.check(Outcome.DOWN, body_sha256="b")
    line.check(Outcome.UP, body_sha256="a")
    assert line.reports == []


def test_a_pause_ends_what_the_last_outcome_is_worth() -> None:
    line = Timeline()
    line.run("u")
    state, _ = pause(line.state, START + timedelta(seconds=30))
    assert state.hour is not None
    assert state.hour.tally.up_ms == 30_000
    again, _ = pause(state, START + timedelta(seconds=60))
    assert again == state
    line.watched = replace(line.watched, state=state)
    line.now = START + timedelta(seconds=90)
    line.check(Outcome.UP)
    assert line.state.hour is not None
    assert line.state.hour.tally.up_ms == 30_000


def test_hours_are_closed_as_they_end_and_add_up() -> None:
    line = Timeline(interval_seconds=600)
    line.now = datetime(2026, 1, 2, 12, 55, tzinfo=START.tzinfo)
    line.check(Outcome.UP)
    line.now += timedelta(minutes=9)  # 13:05
    closed = line.check(Outcome.DOWN).closed
    assert [(each.hour.hour, each.tally.up_ms) for each in closed] == [(12, 300_000)]
    assert line.state.hour is not None
    assert (line.state.hour.hour.hour, line.state.hour.tally.up_ms) == (13, 300_000)
    line.now += timedelta(hours=5)  # no checks: a failure holds for half an hour at most
    line.check(Outcome.UP)
    assert line.steps[-1].closed[0].tally.down_ms == 1_800_000
