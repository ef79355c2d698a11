"""Contract tests of the stores of checks: results, rollups, incidents, slots, the due index."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from spinneret.monitoring.checks.models import CheckError, CheckResult, Outcome
from spinneret.monitoring.due.models import ListedTarget
from spinneret.monitoring.incidents.models import (
    IncidentChange,
    IncidentStatus,
    StateChange,
    TimelineEntry,
)
from spinneret.monitoring.rollups.models import DayTally, HourTally, Rollup
from spinneret.monitoring.rollups.rules import day_of, hour_of
from spinneret.monitoring.targets.models import OpenIncident, TargetWithState
from spinneret.monitoring.targets.rules import due_shard_of
from spinneret.web.fetching.models import Certificate, Phases
from tests.contract.backends import OF_AWS, Tables
from tests.contract.watch_stores import Stores, later, stores_of, watched
from tests.fakes.time import START

pytestmark = OF_AWS
HOUR = timedelta(hours=1)


@pytest.fixture
def stores(tables: Tables | None) -> Stores:
    return stores_of(tables)


def result(number: int, seconds: float = 0.0, **fields: object) -> CheckResult:
    given = {"outcome": Outcome.UP, "late_ms": 3} | fields
    return CheckResult(
        id=f"res_{number}",
        checked_at=START + timedelta(seconds=seconds),
        **given,  # type: ignore[arg-type]  # by name
    )


def record(
    stores: Stores,
    former: TargetWithState,
    found: CheckResult,
    due_at: datetime | None = None,
    **step: object,
) -> TargetWithState:
    state = later(former, **({} if due_at is None else {"due_at": due_at}))
    change = StateChange(state=state, **step)  # type: ignore[arg-type]  # by name
    assert stores.checks.record(former, found, change)
    return replace(former, state=state)


def test_results_are_read_as_they_were_written(stores: Stores, tenant: str) -> None:
    made = watched(tenant)
    stores.targets.add(made, None)
    full = result(
        1,
        outcome=Outcome.DOWN,
        latency_ms=120,
        status_code=500,
        error=CheckError(code="HTTP_ERROR", message="answered 500"),
        tries=3,
        in_maintenance=True,
        final_url="https://example.com/",
        redirects=("https://example.com/a",),
        phases=Phases(dns_ms=1, connect_ms=2, tls_ms=None, first_byte_ms=3, transfer_ms=4),
        certificate=Certificate(
            subject="CN=a", issuer="CN=b", names=("a",), not_before=START, not_after=START + HOUR
        ),
        body_sha256="ab",
    )
    record(stores, made, full)
    page = stores.checks.results(tenant, "t_1", since=None, until=None, after=None, limit=9)
    assert (page.items, page.after) == ((full,), None)


# covers M-01
def test_results_are_listed_newest_first_within_their_times(stores: Stores, tenant: str) -> None:
    now = watched(tenant)
    stores.targets.add(now, None)
    found = [result(number, number // 2) for number in range(6)]
    for each in found:
        now = record(stores, now, each)

    def listed(**query: Any) -> list[str]:
        """Return the results of all pages; a page may have fewer results than the limit."""
        asked, found = {"since": None, "until": None, "limit": 9, **query}, []
        after: str | None = None
        while True:
            page = stores.checks.results(tenant, "t_1", after=after, **asked)
            found += [each.id[-1] for each in page.items]
            after = page.after
            if after is None:
                return found

    assert listed() == list("543210")
    second = timedelta(seconds=1)
    assert listed(since=START + second) == list("5432")
    assert listed(until=START + second) == list("3210")
    assert listed(since=START + second, until=START + second) == list("32")
    assert listed(since=START + 2 * second, until=START + second) == []
    assert listed(until=START + 2 * second, limit=2) == list("543210")
    assert listed(limit=1) == list("543210")


def test_a_check_of_what_changed_meanwhile_keeps_nothing(stores: Stores, tenant: str) -> None:
    made = watched(tenant)
    stores.targets.add(made, None)
    now = record(stores, made, result(1))
    other = StateChange(state=later(made, slot="chk_2"), closed=(HourTally(START, Rollup()),))
    assert not stores.checks.record(made, result(2), other)
    assert not stores.checks.record(made, result(2), replace(other, closed=()))
    page = stores.checks.results(tenant, "t_1", since=None, until=None, after=None, limit=9)
    assert [each.id for each in page.items] == ["res_1"]
    assert stores.targets.remove(now)
    assert not stores.checks.record(now, result(3), StateChange(state=later(now)))


def test_a_slot_has_one_owner_until_its_end(stores: Stores, tenant: str) -> None:
    slots, name, second = stores.slots, f"HOSTSLOT#{tenant}", timedelta(seconds=1)
    first = slots.take(name, "one", START, START + second)
    assert first is not None
    assert slots.take(name, "two", START + second / 2, START + HOUR) is None
    again = slots.take(name, "one", START, START + second)  # a retry after a lost response
    assert again is not None
    assert slots.renew(first, START + HOUR) is None
    renewed = slots.renew(again, START + 2 * second)
    assert renewed == replace(again, until=START + 2 * second)
    assert slots.take(name, "two", START + second, START + HOUR) is None
    second_owner = slots.take(name, "two", START + 2 * second, START + HOUR)
    assert second_owner is not None
    assert second_owner.fence > again.fence
    slots.give_back(again)
    assert slots.holder(name) == "two"
    assert slots.take(name, "four", START + 3 * second, START + HOUR, over="three") is None
    fourth = slots.take(name, "four", START + 3 * second, START + HOUR, over="two")
    assert fourth is not None
    assert fourth.fence > second_owner.fence
    slots.give_back(second_owner)
    assert slots.holder(name) == "four"
    slots.give_back(fourth)
    assert slots.holder(name) is None
    third = slots.take(name, "three", START, START + HOUR)
    assert third is not None
    assert third.fence > fourth.fence


def test_hours_add_up_to_days_also_when_one_is_closed_twice(stores: Stores, tenant: str) -> None:
    now = watched(tenant)
    stores.targets.add(now, None)
    one = Rollup(up_ms=5, checks=2, latencies={3: 1, 50: 2})
    other = Rollup(down_ms=7, failed=1, latencies={50: 1})
    first, day = hour_of(START), day_of(START)
    closed = (HourTally(first, one), HourTally(first + HOUR, other))
    now = record(stores, now, result(1), closed=closed)
    now = record(stores, now, result(2), closed=(HourTally(first, other),))
    record(stores, now, result(3), closed=(HourTally(day + 24 * HOUR, one),))
    figures = stores.figures
    hours = [
        HourTally(first, one + other),
        HourTally(first + HOUR, other),
        HourTally(day + 24 * HOUR, one),
    ]
    assert list(figures.hours(tenant, "t_1", first)) == hours
    assert list(figures.hours(tenant, "t_1", first + HOUR)) == hours[1:]
    days = [DayTally(day, one + other + other), DayTally(day + 24 * HOUR, one)]
    assert list(figures.days(tenant, "t_1", day)) == days
    assert list(figures.days(tenant, "t_1", day + 24 * HOUR)) == days[1:]
    assert list(figures.days(f"{tenant}x", "t_1", day)) == []


# covers P-13
def test_checks_of_all_targets_are_counted_by_day(stores: Stores, tenant: str) -> None:
    one, other = watched(tenant), watched(tenant, "t_2")
    for each in (one, other):
        stores.targets.add(each, None)
    first, day = hour_of(START), day_of(START)
    two, three = Rollup(checks=2, failed=1), Rollup(checks=3)
    record(stores, one, result(1), closed=(HourTally(first, two), HourTally(first + HOUR, three)))
    closed = (HourTally(day + 24 * HOUR, three), HourTally(day + 25 * HOUR, Rollup()))
    record(stores, other, result(2), closed=(HourTally(first, three), *closed))
    dates = day.date(), day.date() + timedelta(days=1)
    assert stores.figures.checks(tenant, dates[0]) == {dates[0]: 8, dates[1]: 3}
    assert stores.figures.checks(tenant, dates[1]) == {dates[1]: 3}
    assert stores.figures.checks(f"{tenant}x", dates[0]) == {}
    assert stores.targets.number(tenant) == 2


def test_an_incident_grows_with_its_checks(stores: Stores, tenant: str) -> None:
    now = watched(tenant)
    stores.targets.add(now, None)
    entries = [
        TimelineEntry(at=START + timedelta(minutes=number), status=status, message=f"nö {number}")
        for number, status in enumerate(
            (IncidentStatus.DOWN, IncidentStatus.DEGRADED, IncidentStatus.UP)
        )
    ]
    first = IncidentChange(
        id="inc_1",
        started_at=START,
        status=IncidentStatus.DOWN,
        ended_at=None,
        entry=entries[0],
    )
    now = record(stores, now, result(1), incident=first)
    full = replace(first, status=IncidentStatus.DEGRADED, entry=None)
    now = record(stores, now, result(2), incident=full)
    end = START + 2 * HOUR
    last = replace(first, status=IncidentStatus.UP, ended_at=end, entry=entries[2])
    now = record(stores, now, result(3), incident=last)
    second = replace(first, id="inc_2", started_at=START + HOUR)
    now = record(stores, now, result(4), incident=second)
    page = stores.incidents.page(tenant, "t_1", None, 1)
    assert ([each.id for each in page.items], page.items[0].ended_at) == (["inc_2"], None)
    page = stores.incidents.page(tenant, "t_1", page.after, 1)
    [over] = page.items
    assert (over.status, over.ended_at, page.after) == (IncidentStatus.UP, end, None)
    assert over.timeline == (entries[0], entries[2])
    assert stores.incidents.page(f"{tenant}x", "t_1", None, 1).items == ()
    lasting = OpenIncident(id="inc_2", started_at=START + HOUR, entries=1)
    assert stores.targets.remove(replace(now, state=replace(now.state, incident=lasting)))
    assert stores.incidents.page(tenant, "t_1", None, 9).items == (over,)


def test_a_pause_ends_the_incident_with_the_same_write(stores: Stores, tenant: str) -> None:
    made = watched(tenant)
    stores.targets.add(made, None)
    begin = TimelineEntry(at=START, status=IncidentStatus.DOWN, message="answered 500")
    opened = IncidentChange(
        id="inc_1",
        started_at=START,
        status=IncidentStatus.DOWN,
        ended_at=None,
        entry=begin,
    )
    now = record(stores, made, result(1), incident=opened)
    end = TimelineEntry(at=START + HOUR, status=IncidentStatus.PAUSED, message="paused")
    ended = replace(opened, status=end.status, ended_at=end.at, entry=end)
    target = replace(made.target, paused=True, version=2)
    assert not stores.targets.change(made, target, later(made), ended)
    [open_one] = stores.incidents.page(tenant, "t_1", None, 9).items
    assert (open_one.status, open_one.ended_at) == (IncidentStatus.DOWN, None)
    assert stores.targets.change(now, target, later(now), ended)
    [over] = stores.incidents.page(tenant, "t_1", None, 9).items
    assert (over.status, over.ended_at) == (IncidentStatus.PAUSED, START + HOUR)
    assert over.timeline == (begin, end)


def test_the_due_index_lists_long_intervals_by_time(stores: Stores, tenant: str) -> None:
    rows = [
        watched(
            tenant,
            f"t_{tenant}{number}",
            due_at=START + timedelta(seconds=number % 3),
            interval_seconds=300,
        )
        for number in range(20)
    ]
    paused = watched(tenant, f"t_{tenant}p", due_at=None)
    for each in (*rows, paused):
        stores.targets.add(each, None)
    second = START + timedelta(seconds=1)
    for shard in range(8):
        mine = [each for each in rows if due_shard_of(each.target.id) == shard]
        found = [each for each in stores.index.due(shard, second) if each.tenant == tenant]
        late = [each for each in stores.index.due(shard, second, second) if each.tenant == tenant]
        assert late == [each for each in found if each.listed_at == second]
        expected = [each for each in mine if each.state.due_at != START + timedelta(seconds=2)]
        assert {each.target_id for each in found} == {each.target.id for each in expected}
        assert [each.listed_at for each in found] == sorted(each.listed_at for each in found)
        assert all(each.host == "example.com" for each in found)
        assert all(each.interval_seconds == 300 for each in found)


def test_the_due_index_lists_short_intervals_by_five_minutes(stores: Stores, tenant: str) -> None:
    made = watched(tenant, due_at=START + timedelta(seconds=299), interval_seconds=60)
    stores.targets.add(made, None)
    shard = due_shard_of("t_1")

    def listed() -> list[ListedTarget]:
        return [each for each in stores.index.due(shard, START + HOUR) if each.tenant == tenant]

    [entry] = listed()
    assert (entry.listed_at, entry.interval_seconds) == (START, 60)
    record(stores, made, result(1), due_at=START + timedelta(seconds=359))
    [entry] = listed()
    assert entry.listed_at == START + timedelta(seconds=300)


def test_how_far_the_last_tick_looked_is_kept(stores: Stores) -> None:
    for until in (START, START + HOUR):
        stores.index.keep_sent(until)
        assert stores.index.sent_until() == until
