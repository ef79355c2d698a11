"""Ticks, lists and rounds (M-02)."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import Outcome
from spinneret.monitoring.checks.service import CheckDisposition
from spinneret.monitoring.due import messages, rules
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.due.service import TickScheduler
from spinneret.monitoring.slots.models import host_slot, worker_slot
from spinneret.monitoring.targets.models import Options
from spinneret.monitoring.targets.rules import due_shard_of, next_slot
from spinneret.web.politeness.models import Outcome as Answer
from spinneret.web.politeness.models import PaceLimits, Permit
from tests.fakes.checking import CheckWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.time import START, plenty
from tests.metrics import recorded


def due(number: int, host: str, seconds: float = 0.0) -> DueTarget:
    return DueTarget(
        tenant="acme",
        target_id=f"t_{number:04}",
        host=host,
        due_at=START + timedelta(seconds=seconds),
    )


@pytest.mark.parametrize(
    ("interval", "expected"), [(15, [0, 15, 30, 45]), (60, [0]), (25, [0, 25, 50])]
)
def test_the_ticks_of_a_minute(interval: int, expected: list[int]) -> None:
    world = CheckWorld()
    announcer = TickScheduler(lanes=world.lanes, clock=world.clock, interval_seconds=interval)
    assert announcer.run().ticks == len(expected)
    assert world.lanes.ticks == [(START, delay) for delay in expected]


# covers M-02
@pytest.mark.parametrize("interval", [15, 60, 300])
def test_the_times_of_targets_spread_evenly_over_an_interval(interval: int) -> None:
    slots = [next_slot(f"t_{number}", interval, START) for number in range(10_000)]
    assert all(START < slot <= START + timedelta(seconds=interval) for slot in slots)
    tenths = Counter(int((slot - START).total_seconds() / interval * 10) % 10 for slot in slots)
    assert max(tenths.values()) < 1.15 * 1000
    shards = Counter(due_shard_of(f"t_{number}") for number in range(10_000))
    assert len(shards) == limits.CHECK_SHARDS
    assert max(shards.values()) < 1.15 * 10_000 / limits.CHECK_SHARDS


def test_a_targets_times_are_an_interval_apart_whatever_was_missed() -> None:
    first = next_slot("t_1", 15, START)
    second = next_slot("t_1", 15, first)
    assert second - first == timedelta(seconds=15)
    late = next_slot("t_1", 15, first + timedelta(seconds=1000))
    assert (late - first) % timedelta(seconds=15) == timedelta()
    assert late - first < timedelta(seconds=1016)


def test_all_targets_of_a_host_are_on_one_list_and_hosts_take_turns() -> None:
    found = [due(number, f"h{number % 3}", number) for number in range(30)]
    lists = rules.assign_to_workers(reversed(found), workers=8, per_host=30)
    assert sum(map(len, lists)) == 30
    for each in lists:
        hosts = {one.host for one in each}
        assert not any(one.host in hosts for other in lists if other is not each for one in other)
    [alone] = rules.assign_to_workers(reversed(found), workers=1, per_host=30)
    assert [each.host for each in alone[:6]] == ["h0", "h1", "h2"] * 2
    assert alone == found


def test_when_there_is_more_than_fits_the_longest_waiting_are_handed_out() -> None:
    most = 2 * limits.CHECK_ROUND_TARGETS
    found = [due(number, f"h{number}", -number) for number in range(most + 50)]
    handed = [each for one in rules.assign_to_workers(found, workers=2, per_host=1) for each in one]
    assert {each.target_id for each in handed} == {each.target_id for each in found[50:]}


def crowd(
    world: CheckWorld, host: str, number: int, *, tenant: str = "acme", interval: int = 15
) -> None:
    """Targets as the service makes them, without the fake's look at all others for each."""
    for each in range(number):
        url = f"https://{host}/{each}"
        made = world.targets.draft(tenant, url, Options(interval_seconds=interval))
        world.watch.rows[tenant, made.target.id] = made


def handed(world: CheckWorld) -> Counter[str]:
    """By host, what a tick hands out now."""
    world.lanes.lists.clear()
    world.tick().run(world.clock())
    return Counter(each.host for _, one in world.lanes.lists for each in one)


def test_a_crowded_host_keeps_no_other_out_of_a_tick() -> None:
    """3,000 targets, hours overdue, beside 50 hosts whose one target is due just now."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "crowded.example", 3000)
    world.clock.advance(2 * 3600)
    for number in range(50):
        crowd(world, f"h{number}.example", 1, tenant="other")
    world.clock.advance(16)
    found = handed(world)
    assert all(found[f"h{number}.example"] == 1 for number in range(50))
    # Twenty can be checked; eighty more are skipped, so that their owner hears of it.
    assert found["crowded.example"] == 100


@pytest.mark.heavy
def test_many_crowded_hosts_keep_no_other_out_of_a_tick() -> None:
    """Each of them alone has places for a hundred."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    for number in range(60):
        crowd(world, f"crowded{number}.example", 200)
    world.clock.advance(3600)
    for number in range(50):
        crowd(world, f"h{number}.example", 1, tenant="other")
    world.clock.advance(16)
    found = handed(world)
    assert all(found[f"h{number}.example"] == 1 for number in range(50))
    crowded = [found[f"crowded{number}.example"] for number in range(60)]
    assert 35 <= min(crowded) <= max(crowded) <= 40  # 2,350 places for sixty, in eight lists


def test_of_a_crowded_host_the_longest_waiting_are_handed_out() -> None:
    found = [due(number, "a.example", -number) for number in range(30)]
    found += [due(number, f"h{number}.example") for number in range(30, 60)]
    [one] = rules.assign_to_workers(found, workers=1, per_host=7)
    mine = [each.target_id for each in one if each.host == "a.example"]
    assert mine == [each.target_id for each in reversed(found[23:30])]
    assert len(one) == 37


def test_no_worker_gets_more_than_fits_however_the_hosts_are_dealt_out() -> None:
    hosts = {"a.example": 250, "b.example": 250, "c.example": 100}
    found = [due(n, host) for host, number in hosts.items() for n in range(number)]
    lists = rules.assign_to_workers(found, workers=2, per_host=250)
    assert sorted(map(len, lists)) == [250, limits.CHECK_ROUND_TARGETS]


def test_hosts_come_before_second_targets_when_there_is_more_than_fits() -> None:
    most = limits.CHECK_ROUND_TARGETS
    found = [due(number, f"h{number % 10}.example", -9) for number in range(most)]
    found += [due(most + number, f"j{number}.example") for number in range(most - 20)]
    [one] = rules.assign_to_workers(found, workers=1, per_host=100)
    assert len({each.host for each in one}) == most - 10
    assert len(one) == most


def test_successive_ticks_read_from_every_part_of_what_waits() -> None:
    parts = set[int]()
    for tick in range(40):
        now = START + timedelta(seconds=600 + 15 * tick)
        parts.add(int(20 * ((rules.scan_offset(START, now, 15) - START) / (now - START))))
    assert parts == set(range(20))


def test_a_target_that_a_tick_reads_twice_is_on_one_list_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "CHECK_READ_TARGETS", 3)
    world = CheckWorld()
    crowd(world, "site.example", 200)
    for key, row in world.watch.rows.items():
        world.watch.rows[key] = replace(row, state=replace(row.state, due_at=START))
    handed(world)
    targets = [each.target_id for _, one in world.lanes.lists for each in one]
    assert len(targets) == len(set(targets)) > 0


@pytest.mark.heavy
def test_a_tick_reads_past_any_crowd_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies behind more than a tick reads is looked for at another place by each tick."""
    monkeypatch.setattr(limits, "CHECK_READ_TARGETS", 20)
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "crowded.example", 2000, interval=600)
    for number in range(10):
        crowd(world, f"h{number}.example", 1, interval=600)
    world.clock.advance(600)
    seen: Counter[str] = Counter()
    for _ in range(50):
        seen += handed(world)
        world.clock.advance(15)
    assert all(seen[f"h{number}.example"] for number in range(10))


@pytest.mark.parametrize(
    ("interval", "rate", "burst", "expected"),
    [(15, 1, 5, 100), (60, 1, 5, 300), (15, 0.1, 1, 15), (15, 50, 50, 300), (3600, 0.1, 1, 35)],
)
def test_a_host_has_room_for_what_its_pace_allows_and_a_margin(
    interval: int, rate: float, burst: int, expected: int
) -> None:
    pace = PaceLimits(rate=rate, burst=burst)
    assert rules.places_of_host(pace, interval) == expected


def test_messages_are_read_as_they_were_written() -> None:
    found = [due(1, "a.example", 0.25)]
    assert messages.list_of(messages.list_message(START, found)) == (START, found)
    assert messages.tick_of(messages.tick_message(START)) == START
    for body in ("", "[]", "{}", '{"at": 7}', '{"at": "x", "targets": [["a"]]}'):
        for parse in (messages.list_of, messages.tick_of):
            with pytest.raises(ValueError):  # noqa: PT011 - the contract of message_entrypoint
                parse(body)


def test_the_longest_list_fits_a_message() -> None:
    row = DueTarget(tenant="t" * 40, target_id="t" * 40, host="h" * 253, due_at=START)
    body = messages.list_message(START, [row] * limits.CHECK_ROUND_TARGETS)
    assert len(body.encode()) < 256 * 1024


def test_a_tick_hands_out_what_is_due_and_reports_lateness() -> None:
    world = CheckWorld()
    ids = [world.target(f"https://h{number}.example/") for number in range(20)]
    world.targets.pause("acme", ids[0])
    world.clock.advance(20)
    ticked = world.tick().run(world.clock())
    assert (ticked.due, ticked.handed, ticked.workers) == (19, 19, 4)
    assert 5 < ticked.oldest_seconds <= 20
    handed = {each.target_id for _, one in world.lanes.lists for each in one}
    assert handed == set(ids[1:])


# covers P-12
def test_what_a_tick_found_is_recorded_as_metrics() -> None:
    recorded()
    world = CheckWorld()
    world.target("https://site.example/")
    world.clock.advance(20)
    late = round(world.tick().run(world.clock()).oldest_seconds, 3)
    assert late > 0
    wanted = {"checks_due": [1], "checks_handed": [1], "check_late_seconds": [late]}
    assert recorded() == wanted


def test_ticks_that_pile_up_are_one() -> None:
    world = CheckWorld()
    world.target("https://site.example/")
    at = world.clock.advance(20)
    tick = world.tick()
    assert tick.run(at - timedelta(seconds=15)).workers == 0
    assert tick.run(at).workers == 1
    assert tick.run(at).workers == 0
    world.clock.advance(15)
    assert tick.run(world.clock()).workers == 1


def ticked(world: CheckWorld) -> Counter[str]:
    """A tick and the rounds of its lists, one after the other; what became of how many."""
    world.lanes.lists.clear()
    world.tick().run(world.clock())
    done: Counter[str] = Counter()
    for order in world.lanes.lists:
        done += world.worker().run(order, plenty_of_time)
    return done


def plenty_of_time() -> float:
    return 900.0


def test_a_missed_tick_is_caught_up_once() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    world.clock.advance(10 * 15)
    assert ticked(world) == {CheckDisposition.CHECKED: 1}
    assert len(world.sites.requests) == 1
    following = world.watched(target_id).state.due_at
    assert following is not None
    assert timedelta() < following - world.clock() <= timedelta(seconds=15)


def test_fifty_targets_of_one_host_are_checked_within_the_bound_longest_waiting_first() -> None:
    """Five at once, then one a second: 50 take 45 s, and with two ticks of waiting 75."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    ids = [
        world.target(f"https://site.example/{number}", interval_seconds=3600)
        for number in range(50)
    ]
    world.clock.now = max(world.due(target_id).due_at for target_id in ids)
    began_at = world.clock()
    waiting = sorted(ids, key=lambda target_id: world.due(target_id).due_at)
    while len(world.sites.seen) < 50:
        assert world.clock() - began_at <= timedelta(seconds=75)
        at = world.clock()
        ticked(world)
        world.clock.now = max(world.clock.now, at + timedelta(seconds=15))
    order = [url.rpartition("/")[2] for _, url in world.sites.seen]
    assert order == [str(ids.index(target_id)) for target_id in waiting]
    assert world.sites.most_at_once["site.example"] == 1
    times = [(at - began_at).total_seconds() for at, _ in world.sites.seen]
    assert all(times[number + 5] - times[number] > 0.99 for number in range(45))


# covers M-02
def test_a_busy_host_holds_up_no_other() -> None:
    world = CheckWorld(limits=PaceLimits(rate=0.01, burst=1))
    for number in range(5):
        world.target(f"https://busy.example/{number}")
        world.target(f"https://h{number}.example/")
    world.clock.advance(20)
    assert ticked(world) == {CheckDisposition.CHECKED: 6, CheckDisposition.SKIPPED: 4}
    states = [each.state for each in world.watch.rows.values()]
    # One of them asked for a slot of the host's pace; those behind it need not ask.
    assert sum(each.reservation is not None for each in states) == 1


@pytest.mark.parametrize("why", ["a check", "its pace"])
def test_a_redirect_to_a_busy_host_defers_only_its_own_target(why: str) -> None:
    """Of fifteen targets of a host, the first one redirects there at every tick."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=15))
    ids = [world.target(f"https://site.example/{number}") for number in range(15)]
    first = min(ids, key=lambda each: world.due(each).due_at)
    url = world.watched(first).target.canonical_url
    there = "https://other.example/"
    world.sites.answers[url] = fetched_page(there, b"there", redirects=(url,))
    for number in range(3):
        world.clock.advance(20)
        if why == "a check":
            until = world.clock() + timedelta(seconds=15)
            world.slots.take(host_slot("other.example"), world.new_id("x"), world.clock(), until)
        elif number == 0:
            _cool(world, "other.example")
        done = ticked(world)
        assert done[CheckDisposition.DEFERRED] <= 1
        assert done[CheckDisposition.CHECKED] == 14
        assert CheckDisposition.SKIPPED not in done


def _cool(world: CheckWorld, host: str) -> None:
    """The host asks for a pause of a minute."""
    permit = world.pace.admit(host, owner="other", limits=world.limits)
    assert isinstance(permit, Permit)
    world.pace.report(permit, Answer.CLIENT_ERROR, retry_after=60.0)


def test_tenants_take_turns_at_a_host() -> None:
    """A hundred targets of one tenant have waited for minutes, three of another for seconds."""
    found = [due(number, "site.example", -300 + number) for number in range(100)]
    found += [replace(due(number, "site.example"), tenant="other") for number in range(100, 103)]
    [one] = rules.assign_to_workers(found, workers=1, per_host=20)
    assert [each.tenant for each in one[:8]] == ["acme", "other"] * 3 + ["acme"] * 2
    assert [each.target_id for each in one if each.tenant == "acme"] == [
        each.target_id for each in found[:17]
    ]


def test_a_crowd_of_one_tenant_delays_no_other_at_the_same_host() -> None:
    """The host carries a quarter of what one tenant asks; the other one's two are in time."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "site.example", 400, interval=300)
    crowd(world, "site.example", 2, tenant="other", interval=15)
    late: list[int] = []
    for _ in range(80):
        at = world.clock()
        ticked(world)
        world.clock.now = max(world.clock.now, at + timedelta(seconds=15))
    for tenant, target_id in world.watch.rows:
        if tenant == "other":
            late += [
                each.late_ms
                for each in world.watch.results(
                    tenant, target_id, since=None, until=None, after=None, limit=1000
                ).items
                if each.outcome is Outcome.UP
            ]
    assert len(late) > 100
    assert max(late) < 22_500  # a ratio of 1.5


def test_a_round_ends_before_the_next_tick_and_leaves_the_rest_due() -> None:
    world = CheckWorld()
    for number in range(10):
        world.target(f"https://h{number}.example/")
        world.sites.seconds[f"h{number}.example"] = 4.0
    world.clock.advance(20)
    world.lanes.lists.clear()
    world.tick(workers=1).run(world.clock())
    [order] = world.lanes.lists
    done = world.worker(workers=1).run(order, plenty_of_time)
    assert done == {CheckDisposition.CHECKED: 4}
    assert world.slots.taken([worker_slot(0)], world.clock()) == 0


def test_a_list_that_comes_late_or_beside_a_full_house_is_dropped() -> None:
    world = CheckWorld()
    world.target("https://site.example/")
    world.clock.advance(20)
    world.tick().run(world.clock())
    [order] = world.lanes.lists
    slots = [world.worker_slot(number) for number in range(2)]
    assert world.worker(workers=2).run(order, plenty_of_time) == {"no_slot": 1}
    world.slots.give_back(slots[0])
    world.clock.advance(14)
    assert world.worker(workers=2).run(order, plenty_of_time) == {"no_slot": 1}
    assert world.sites.requests == []


def test_no_check_begins_that_the_invocation_has_no_time_for() -> None:
    world = CheckWorld()
    world.target("https://site.example/")
    world.clock.advance(20)
    world.tick().run(world.clock())
    [order] = world.lanes.lists
    assert world.worker().run(order, plenty) == {}
    assert world.worker().run(order, plenty_of_time) == {CheckDisposition.CHECKED: 1}


def test_a_worker_renews_its_slot_before_a_check_could_outlast_it() -> None:
    world = CheckWorld()
    for number in range(12):
        world.target(f"https://h{number}.example/", interval_seconds=60)
        world.sites.seconds[f"h{number}.example"] = 4.5
    world.clock.advance(60)
    world.tick(workers=1, interval=60).run(world.clock())
    [order] = world.lanes.lists
    left = []
    world.sites.arrived = lambda _: left.append(slot_end(world) - world.clock())
    done = world.worker(workers=1, interval=60).run(order, plenty_of_time)
    assert done[CheckDisposition.CHECKED] == 12
    assert min(left) >= timedelta(seconds=world.parts().slot_seconds)


def test_a_worker_that_lost_its_slot_stops() -> None:
    world = CheckWorld()
    for number in range(3):
        world.target(f"https://h{number}.example/")
    world.clock.advance(20)
    world.tick(workers=1).run(world.clock())
    [order] = world.lanes.lists

    def stalls(_: str) -> None:
        world.clock.advance(600)
        world.worker_slot(0)

    world.sites.arrived = stalls
    done = world.worker(workers=1, interval=3600).run(order, plenty_of_time)
    assert sum(done.values()) == 1
    assert world.slots.taken([worker_slot(0)], world.clock()) == 1


def slot_end(world: CheckWorld) -> datetime:
    _, _, end = world.slots._rows[worker_slot(0)]
    assert end is not None
    return end
