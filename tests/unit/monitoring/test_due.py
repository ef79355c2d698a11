"""Ticks, and the checks that they send (M-02)."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.passes import FAILED
from spinneret.monitoring import limits
from spinneret.monitoring.checks.models import CheckResult, Outcome
from spinneret.monitoring.checks.service import CheckDisposition
from spinneret.monitoring.checks.worker import LATE, WAITING
from spinneret.monitoring.due import messages, rules
from spinneret.monitoring.due.models import DueTarget, ListedTarget, Planned, TickWindow
from spinneret.monitoring.due.service import FirstChecks
from spinneret.monitoring.slots.models import host_slot, worker_slot
from spinneret.monitoring.targets.models import Options, TargetWithState
from spinneret.monitoring.targets.rules import due_shard_of, listed_at, next_slot
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit
from tests.fakes.checking import CheckWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.time import START, plenty
from tests.metrics import recorded

SECOND = timedelta(seconds=1)
WINDOW = rules.window(START, START)


def listed(
    number: int, host: str, seconds: float = 0.0, *, tenant: str = "acme", interval: int = 3600
) -> ListedTarget:
    """Return an index entry that is listed `seconds` after START."""
    return ListedTarget(
        tenant=tenant,
        target_id=f"t_{number:04}",
        host=host,
        listed_at=START + seconds * SECOND,
        interval_seconds=interval,
    )


def plan(
    found: list[ListedTarget],
    *,
    window: TickWindow = WINDOW,
    rate: float = 1000.0,
    most: int = 10_000,
) -> list[Planned]:
    return rules.plan(found, window, rate=rate, most=most)


def checks(planned: list[Planned]) -> list[DueTarget]:
    return [check for each in sorted(planned, key=lambda each: each.at) for check in each.checks]


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


# ---------------------------------------------------------------- Plans


def test_all_checks_of_a_short_interval_are_sent_for_the_whole_window() -> None:
    found = checks(plan([listed(1, "site.example", interval=15)]))
    assert [each.due_at for each in found] == [
        next_slot("t_0001", 15, START) + number * 15 * SECOND for number in range(5)
    ]
    assert all(each.until == each.due_at + 15 * SECOND for each in found[:4])


def test_a_message_arrives_at_its_checks_time_up_to_a_second_later() -> None:
    found = plan([listed(number, f"h{number}", number / 7) for number in range(1, 101)])
    assert len(found) == 100
    for each in found:
        [check] = each.checks
        assert timedelta() <= each.at - check.due_at < SECOND


def test_checks_of_a_host_in_one_second_are_one_message_and_hosts_have_their_own() -> None:
    found = plan([listed(number, f"h{number % 3}", 7.5) for number in range(30)])
    assert len(found) == 3
    assert {len(each.checks) for each in found} == {10}
    assert all(len({check.host for check in each.checks}) == 1 for each in found)


def test_what_was_sent_before_is_sent_again_only_when_its_time_is_over() -> None:
    now = START + 60 * SECOND
    window = rules.window(START + 75 * SECOND, now)
    found = [
        listed(number, "site.example", seconds)
        for number, seconds in enumerate((40, 44, 46, 60, 74, 76, 134))
    ]
    sent = [int(each.target_id[-1]) for each in checks(plan(found, window=window))]
    # The first two are more than 15 seconds late; the messages of the next three are on their way.
    assert sent == [0, 1, 5, 6]


def test_successive_ticks_send_each_check_once_even_if_they_are_late() -> None:
    entry, sent, until = listed(1, "site.example", interval=15), list[datetime](), None
    for tick in range(0, 600, 10):
        if tick % 60 in {0, 10}:  # the rule is up to ten seconds late
            now = START + (tick + (tick // 60) % 2 * 7) * SECOND
            window = rules.window(until, now)
            until = window.until
            sent += [each.due_at for each in checks(plan([entry], window=window))]
    assert len(sent) == len(set(sent))
    assert sent == [sent[0] + number * 15 * SECOND for number in range(len(sent))]


def test_overdue_checks_of_a_host_are_spread_by_its_rate_and_tenants_take_turns() -> None:
    found = [listed(number, "site.example", -300 - number) for number in range(20)]
    found += [listed(number, "site.example", -20, tenant="other") for number in range(20, 23)]
    window = rules.window(START, START)
    planned = sorted(plan(found, window=window, rate=1.0), key=lambda each: each.at)
    assert [len(each.checks) for each in planned] == [1] * 23
    assert [each.at for each in planned] == [START + number * SECOND for number in range(23)]
    tenants = [each.tenant for each in checks(planned)]
    assert tenants[:6] == ["acme", "other"] * 3
    assert tenants[6:] == ["acme"] * 17


def test_of_a_crowded_host_the_latest_in_proportion_to_their_intervals_are_sent() -> None:
    """One target is late by a sixth of its interval (ten minutes), the others by two intervals."""
    found = [listed(number, "site.example", -600, interval=300) for number in range(100)]
    found.append(listed(100, "site.example", -600, interval=3600))
    sent = checks(plan(found, rate=0.5))
    assert 30 <= len(sent) < 40
    assert "t_0100" not in {each.target_id for each in sent}
    assert {each.paced_seconds for each in sent} == {900}


def test_intervals_at_a_crowded_host_grow_by_one_factor() -> None:
    """Seventy targets need 4.7 checks a second; of the host's one request, 0.9 are for checks."""
    found = [listed(number, "site.example", interval=15) for number in range(70)]
    window, sent = WINDOW, list[DueTarget]()
    for _ in range(5):
        sent += checks(plan(found, window=window, rate=1.0))
        window = rules.window(window.until, window.now + rules.EVERY)
    times: dict[str, list[datetime]] = {}
    for each in sent:
        times.setdefault(each.target_id, []).append(each.due_at)
    gaps = [b - a for seen in times.values() for a, b in pairwise(seen)]
    assert len(times) == 70
    assert set(gaps) == {timedelta(seconds=78.75)}  # 5.25 times 15 s
    assert {each.paced_seconds for each in sent} == {79}


def test_a_tenant_within_its_share_keeps_its_intervals_beside_a_crowd() -> None:
    found = [listed(number, "site.example", interval=15) for number in range(400)]
    found += [listed(number, "site.example", tenant="other", interval=15) for number in (400, 401)]
    sent = checks(plan(found, rate=1.0))
    others = [each for each in sent if each.tenant == "other"]
    assert len(others) == 10
    assert {each.paced_seconds for each in others} == {None}
    assert 40 <= len(sent) - len(others) <= 75


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"a": 0.2, "b": 0.3}, {"a": 0.2, "b": 0.3}),
        ({"a": 5.0, "b": 0.2}, {"a": 0.8, "b": 0.2}),
        ({"a": 5.0, "b": 7.0}, {"a": 0.5, "b": 0.5}),
        ({}, {}),
    ],
)
def test_shares_are_equal_and_nobody_gets_more_than_he_wants(
    wanted: dict[str, float], expected: dict[str, float]
) -> None:
    assert rules.fair_shares(wanted, 1.0) == pytest.approx(expected)


def test_hosts_come_before_second_checks_when_there_is_more_than_fits() -> None:
    found = [listed(number, f"h{number % 10}.example", -90) for number in range(300)]
    found += [listed(300 + number, f"j{number}.example", 10) for number in range(80)]
    sent = checks(plan(found, most=100))
    assert len(sent) == 100
    assert len({each.host for each in sent}) == 90


def test_successive_ticks_read_from_every_part_of_what_waits() -> None:
    parts = set[int]()
    for tick in range(40):
        now = START + timedelta(seconds=600 + 60 * tick)
        parts.add(int(20 * ((rules.scan_offset(START, now) - START) / (now - START))))
    assert parts == set(range(20))


def test_the_index_changes_once_in_five_minutes_for_short_intervals() -> None:
    times = [START + number * 15 * SECOND for number in range(80)]
    assert len({listed_at(each, 15) for each in times}) == 4
    assert [listed_at(each, 300) for each in times] == times


# ---------------------------------------------------------------- Ticks


def crowd(
    world: CheckWorld, host: str, number: int, *, tenant: str = "acme", interval: int = 15
) -> None:
    """Create targets as the service does, without the fake's scan of all others for each one."""
    for each in range(number):
        url = f"https://{host}/{each}"
        made = world.targets.draft(tenant, url, Options(interval_seconds=interval))
        world.watch.rows[tenant, made.target.id] = made


def sent(world: CheckWorld) -> Counter[str]:
    """Run a tick and return the number of checks that it sends, by host."""
    world.lane.sent.clear()
    world.tick().run()
    return Counter(each.host for each in world.lane.checks)


@pytest.mark.heavy
def test_a_crowded_host_keeps_no_other_out_of_a_tick() -> None:
    """One host has 3,000 targets that are hours late; 50 other hosts have one target each."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "crowded.example", 3000)
    world.clock.advance(2 * 3600)
    for number in range(50):
        crowd(world, f"h{number}.example", 1, tenant="other")
    found = sent(world)
    assert all(found[f"h{number}.example"] == 5 for number in range(50))
    assert 50 < found["crowded.example"] < 85


@pytest.mark.heavy
def test_a_tick_reads_past_any_crowd_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tick that can't read all targets reads the rest from an offset that differs each time."""
    monkeypatch.setattr(limits, "CHECK_READ_TARGETS", 40)
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "crowded.example", 2000, interval=3600)
    for number in range(10):
        crowd(world, f"h{number}.example", 1, interval=3600)
    world.clock.advance(3600)
    seen: Counter[str] = Counter()
    for _ in range(50):
        seen += sent(world)
        world.clock.advance(60)
    assert all(seen[f"h{number}.example"] for number in range(10))


def test_a_target_that_a_tick_reads_twice_is_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CHECK_READ_TARGETS", 3)
    world = CheckWorld()
    crowd(world, "site.example", 200, interval=600)
    for key, row in world.watch.rows.items():
        world.watch.rows[key] = replace(row, state=replace(row.state, due_at=START))
    world.clock.advance(60)
    sent(world)
    targets = [each.target_id for each in world.lane.checks]
    assert len(targets) == len(set(targets)) > 0


def test_messages_are_read_as_they_were_written() -> None:
    found = [
        DueTarget(
            tenant="acme",
            target_id="t_1",
            host="a.example",
            due_at=START + SECOND / 4,
            until=START + 15 * SECOND,
            paced_seconds=paced,
            reservation=reservation,
        )
        for paced, reservation in ((None, None), (70, "a.example"))
    ]
    assert messages.checks_of(messages.checks_message(found)) == found
    for body in ("", "[]", "{}", '{"at": "x", "targets": []}', '{"checks": [["a"]]}'):
        with pytest.raises(ValueError):  # noqa: PT011 - the contract of message_entrypoint
            messages.checks_of(body)


def test_a_batch_of_the_longest_messages_fits_sqs() -> None:
    row = DueTarget(
        tenant="t" * 40,
        target_id="t" * 40,
        host="h" * 253,
        due_at=START,
        until=START,
        paced_seconds=3600,
        reservation="h" * 280,
    )
    body = messages.checks_message([row] * limits.CHECKS_PER_MESSAGE)
    assert 10 * len(body.encode()) < 256 * 1024


def test_a_tick_sends_what_comes_due_and_reports_lateness() -> None:
    world = CheckWorld()
    ids = [world.target(f"https://h{number}.example/", interval_seconds=60) for number in range(20)]
    late = world.target("https://late.example/", interval_seconds=300)
    world.targets.pause("acme", ids[0])
    world.clock.now = world.due(late).due_at + 20 * SECOND
    ticked = world.tick().run()
    assert (ticked.listed, ticked.late_seconds) == (20, 20)
    assert {each.target_id for each in world.lane.checks} == {*ids[1:], late}
    assert ticked.sent == len(world.lane.checks)


# covers P-12
def test_what_a_tick_found_is_recorded_as_metrics() -> None:
    recorded()
    world = CheckWorld()
    world.come_due(world.target("https://site.example/", interval_seconds=300))
    world.clock.advance(20)
    world.tick().run()
    wanted = {"checks_due": [1], "checks_handed": [1], "check_late_seconds": [20]}
    assert recorded() == wanted


def test_a_rule_that_starts_its_function_twice_sends_once() -> None:
    world = CheckWorld()
    world.target("https://site.example/")
    tick = world.tick()
    assert tick.run().sent == 5
    world.clock.advance(5)
    assert tick.run().sent == 0
    world.clock.advance(55)
    assert tick.run().sent == 4


def test_a_tick_that_runs_beside_another_sends_nothing() -> None:
    world = CheckWorld()
    world.target("https://site.example/")
    send, beside = world.lane.send, list[int]()

    def overlapped(planned: list[Planned]) -> None:
        world.lane.send = send  # type: ignore[method-assign]  # only the first tick is overlapped
        beside.append(world.tick().run().sent)
        send(planned)

    world.lane.send = overlapped  # type: ignore[method-assign,assignment]  # for one tick
    assert (world.tick().run().sent, beside) == (5, [0])


@pytest.mark.parametrize("ahead", [10, 70], ids=["overdue by then", "still ahead then"])
def test_what_a_tick_could_not_send_the_next_one_sends(ahead: int) -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/", interval_seconds=300)
    world.clock.now = world.due(target_id).due_at - ahead * SECOND
    tick, send = world.tick(), world.lane.send

    def broken(planned: object) -> None:
        raise DependencyUnavailable("sqs")

    world.lane.send = broken  # type: ignore[method-assign]  # for one tick
    with pytest.raises(DependencyUnavailable):
        tick.run()
    world.lane.send = send  # type: ignore[method-assign]
    world.clock.advance(60)
    assert world.tick().run().sent == 1


# ---------------------------------------------------------------- Messages and checks


def results(world: CheckWorld, target_id: str, tenant: str = "acme") -> list[CheckResult]:
    """Return all results of a target, oldest first."""
    page = world.watch.results(tenant, target_id, since=None, until=None, after=None, limit=10**6)
    return [*page.items][::-1]


def test_a_lost_message_is_made_up_for_by_a_later_tick() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/", interval_seconds=600)
    due = world.due(target_id)
    world.clock.now = due.due_at - 10 * SECOND
    world.tick().run()
    assert [each.target_id for each in world.lane.checks] == [target_id]
    world.lane.sent.clear()
    world.clock.advance(60)
    assert world.play(1) == {CheckDisposition.CHECKED: 1}
    [only] = results(world, target_id)
    assert only.late_ms == 50_000


def test_a_missed_minute_is_caught_up_once() -> None:
    world = CheckWorld()
    ids = [
        world.target("https://site.example/"),
        world.target("https://b.example/", interval_seconds=300),
    ]
    world.clock.advance(1000)
    world.play(15)
    assert [len(results(world, target_id)) for target_id in ids] == [1, 1]
    following = world.watched(ids[0]).state.due_at
    assert following is not None
    assert timedelta() < following - world.clock() <= timedelta(seconds=15)


def test_a_message_that_comes_twice_writes_once() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = world.come_due(target_id)
    worker = world.worker()
    assert worker.run([due, due], plenty_of_time) == {
        CheckDisposition.CHECKED: 1,
        CheckDisposition.STALE: 1,
    }
    assert len(results(world, target_id)) == len(world.sites.requests) == 1


@pytest.mark.parametrize("change", ["pause", "resume", "remove", "interval"])
def test_what_an_owner_changed_after_the_message_writes_nothing(change: str) -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/", interval_seconds=60)
    due = world.come_due(target_id)
    if change == "remove":
        world.targets.remove("acme", target_id)
    elif change == "interval":
        world.targets.update("acme", target_id, {"interval_seconds": 300})
    else:
        world.targets.pause("acme", target_id)
        if change == "resume":
            world.targets.resume("acme", target_id)
    assert world.worker().run([due], plenty_of_time) == {CheckDisposition.STALE: 1}
    assert (world.sites.requests, results(world, target_id)) == ([], [])


def test_options_that_an_owner_changed_after_the_message_are_checked() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = world.come_due(target_id)
    world.targets.update("acme", target_id, {"method": "HEAD"})
    assert world.worker().run([due], plenty_of_time) == {CheckDisposition.CHECKED: 1}
    assert [each.method for each in world.sites.requests] == ["HEAD"]


def test_a_change_during_a_check_keeps_its_result_out() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = world.come_due(target_id)
    world.sites.arrived = lambda _: world.targets.pause("acme", target_id) and None
    assert world.worker().run([due], plenty_of_time) == {CheckDisposition.STALE: 1}
    assert results(world, target_id) == []


def test_a_worker_whose_clock_lags_makes_each_check_once() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = world.come_due(target_id)
    world.clock.advance(-3)
    worker = world.worker()
    assert worker.run([due, due], plenty_of_time) == {
        CheckDisposition.CHECKED: 1,
        CheckDisposition.STALE: 1,
    }


def test_a_new_targets_checks_begin_at_once() -> None:
    """The last tick planned ahead before the target existed."""
    world = CheckWorld()
    world.tick().run()
    world.clock.advance(1)
    first = FirstChecks(index=world.watch, lane=world.lane, clock=world.clock)
    world.targets.announce = first.send
    target_id = world.target("https://site.example/")
    due_at = world.due(target_id).due_at
    times = [each.due_at for each in world.lane.checks]
    assert times == [due_at + number * 15 * SECOND for number in range(len(times))]
    assert len(times) in {4, 5}
    world.clock.advance(59)
    world.tick().run()
    times = [each.due_at for each in world.lane.checks]
    assert times == [due_at + number * 15 * SECOND for number in range(len(times))]
    # A tick will find a check with a long interval.
    world.lane.sent.clear()
    world.clock.now = START
    made = world.targets.draft("acme", "https://b.example", Options(interval_seconds=3600))
    first.send(replace(made, state=replace(made.state, due_at=START + timedelta(hours=1))))
    assert world.lane.sent == []


# covers M-02
@pytest.mark.heavy
def test_checks_begin_at_their_times() -> None:
    world = CheckWorld()
    ids = [world.target(f"https://h{number}.example/", interval_seconds=60) for number in range(30)]
    world.play(600)
    late = [each.late_ms for target_id in ids for each in results(world, target_id)[1:]]
    assert len(late) >= 30 * 8
    assert max(late) < 1000


def test_fifty_targets_of_one_host_are_checked_within_the_bound() -> None:
    """Overdue targets are checked one per second, the rate limit of the host."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    ids = [
        world.target(f"https://site.example/{number}", interval_seconds=3600)
        for number in range(50)
    ]
    world.clock.advance(3600)
    began_at = world.clock()
    world.play(75)
    assert len({url for _, url in world.sites.seen}) == len(ids)
    assert world.sites.most_at_once["site.example"] == 1
    times = [(at - began_at).total_seconds() for at, _ in world.sites.seen]
    assert all(times[number + 5] - times[number] > 0.99 for number in range(45))


# covers M-02
def test_a_busy_host_holds_up_no_other() -> None:
    world = CheckWorld(limits=PaceLimits(rate=0.01, burst=1))
    ids = [world.target(f"https://h{number}.example/", interval_seconds=300) for number in range(5)]
    crowd(world, "busy.example", 5, tenant="other", interval=300)
    world.clock.advance(300)
    done = world.play(60)
    assert all(len(results(world, target_id)) == 1 for target_id in ids)
    # The busy host's rate limit allows one check in 100 seconds.
    assert done[CheckDisposition.CHECKED] == 6


@pytest.mark.parametrize("why", ["a check", "its pace"])
def test_a_redirect_to_a_busy_host_keeps_only_its_own_target_waiting(why: str) -> None:
    """One of a host's fifteen targets redirects there in every check."""
    world = CheckWorld(limits=PaceLimits(rate=10, burst=15))
    ids = [
        world.target(f"https://site.example/{number}", interval_seconds=30) for number in range(15)
    ]
    first = min(ids, key=lambda each: world.due(each).due_at)
    url = world.watched(first).target.canonical_url
    there = "https://other.example/"
    world.sites.answers[url] = fetched_page(there, b"there", redirects=(url,))
    if why == "a check":
        until = world.clock() + timedelta(seconds=100)
        world.slots.take(host_slot("other.example"), world.new_id("x"), world.clock(), until)
    else:
        _cool(world, "other.example")
    done = world.play(60)
    assert done[WAITING] > 0 or why == "its pace"  # the pause is longer than its interval
    for target_id in ids:
        found = results(world, target_id)
        if target_id == first:
            assert [each.outcome for each in found][:1] == [Outcome.SKIPPED_BUSY]
        else:
            assert [each.outcome for each in found] == [Outcome.UP] * 2
            assert max(each.late_ms for each in found) < 3000


def test_the_rest_of_a_message_is_checked_behind_a_redirect_to_a_busy_host() -> None:
    world = CheckWorld(limits=PaceLimits(rate=10, burst=15))
    ids = [world.target(f"https://site.example/{number}", interval_seconds=60) for number in (0, 1)]
    url, there = world.watched(ids[0]).target.canonical_url, "https://other.example/"
    world.sites.answers[url] = fetched_page(there, b"there", redirects=(url,))
    world.clock.advance(60)
    until = world.clock() + 60 * SECOND
    world.slots.take(host_slot("other.example"), world.new_id("x"), world.clock(), until)
    orders = [replace(world.due(target_id), until=until) for target_id in ids]
    done = world.worker().run(orders, plenty_of_time)
    assert done == {WAITING: 1, CheckDisposition.CHECKED: 1}


def _cool(world: CheckWorld, host: str) -> None:
    """Report that the host asks for a pause of a minute."""
    permit = world.pace.admit(host, owner="other", limits=world.limits)
    assert isinstance(permit, Permit)
    world.pace.report(permit, HostOutcome.CLIENT_ERROR, retry_after=60.0)


def test_a_check_whose_host_is_busy_comes_back_within_two_seconds() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/", interval_seconds=60)
    due = replace(world.come_due(target_id), until=world.clock() + 60 * SECOND)
    busy = world.slots.take(
        host_slot("site.example"), "other", world.clock(), world.clock() + 60 * SECOND
    )
    assert busy is not None
    worker = world.worker()
    assert worker.run([due], plenty_of_time) == {WAITING: 1}
    [again] = world.lane.sent
    assert again.at - world.clock() == SECOND
    assert results(world, target_id) == []  # a wait stores no result
    world.slots.give_back(busy)
    world.clock.advance(1)
    assert worker.run(again.checks, plenty_of_time) == {CheckDisposition.CHECKED: 1}


def test_behind_a_busy_host_all_later_checks_of_the_message_wait_in_their_order() -> None:
    world = CheckWorld(limits=PaceLimits(rate=0.1, burst=1))
    ids = [
        world.target(f"https://site.example/{number}", interval_seconds=60) for number in range(4)
    ]
    world.clock.advance(60)
    until = world.clock() + 60 * SECOND
    orders = [replace(world.due(target_id), until=until) for target_id in ids]
    done = world.worker().run(orders, plenty_of_time)
    assert done == {CheckDisposition.CHECKED: 1, WAITING: 3}
    [again] = world.lane.sent
    assert [each.target_id for each in again.checks] == ids[1:]
    # The first check reserved a time at the host; the checks behind it need no reservation.
    assert [each.reservation for each in again.checks] == ["site.example", None, None]
    assert (again.at - world.clock()).total_seconds() == pytest.approx(10, abs=0.1)


@pytest.mark.heavy
def test_a_crowd_of_one_tenant_delays_no_other_at_the_same_host() -> None:
    """The host can serve half of one tenant's checks; the other's two targets are on time."""
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    crowd(world, "site.example", 400, interval=300)
    crowd(world, "site.example", 2, tenant="other", interval=15)
    world.play(1200)
    late = [
        each.late_ms
        for tenant, target_id in world.watch.rows
        if tenant == "other"
        for each in results(world, target_id, tenant)
    ]
    assert len(late) > 150
    assert max(late) < 22_500  # 1.5 intervals
    crowded = [
        len(results(world, target_id)) for tenant, target_id in world.watch.rows if tenant == "acme"
    ]
    assert min(crowded) >= 1
    assert sum(crowded) > 0.7 * 1200


def test_a_target_says_how_often_its_host_can_be_checked() -> None:
    world = CheckWorld(limits=PaceLimits(rate=1, burst=5))
    ids = [world.target(f"https://site.example/{number}") for number in range(60)]
    paced = [world.watched(target_id).state.paced_seconds for target_id in ids]
    assert paced[:13] == [None] * 13
    assert (paced[13], paced[59]) == (19, 68)
    world.play(180)
    assert {world.watched(target_id).state.paced_seconds for target_id in ids} == {68}
    for target_id in ids[5:]:
        world.targets.remove("acme", target_id)
    world.play(180)
    assert {world.watched(target_id).state.paced_seconds for target_id in ids[:5]} == {None}


def test_a_message_that_comes_too_late_is_dropped() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = world.come_due(target_id)
    world.clock.now = due.until
    assert world.worker().run([due], plenty_of_time) == {LATE: 1}
    assert world.sites.requests == []


def test_beside_a_full_house_checks_wait() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = replace(world.come_due(target_id), until=world.clock() + 15 * SECOND)
    slots = [world.worker_slot(number) for number in range(2)]
    worker = world.worker(workers=2)
    assert worker.run([due], plenty_of_time) == {WAITING: 1}
    world.slots.give_back(slots[0])
    [again] = world.lane.sent
    assert worker.run(again.checks, plenty_of_time) == {CheckDisposition.CHECKED: 1}


def test_no_check_begins_that_the_invocation_has_no_time_for() -> None:
    world = CheckWorld()
    target_id = world.target("https://site.example/")
    due = replace(world.come_due(target_id), until=world.clock() + 15 * SECOND)
    assert world.worker().run([due], plenty) == {WAITING: 1}
    assert world.worker().run([due], plenty_of_time) == {CheckDisposition.CHECKED: 1}


def test_a_process_keeps_its_slot_and_renews_it_before_a_check_could_outlast_it() -> None:
    world = CheckWorld()
    for number in range(12):
        world.target(f"https://h{number}.example/", interval_seconds=60)
        world.sites.seconds[f"h{number}.example"] = 4.5
    left = []
    world.sites.arrived = lambda _: left.append(slot_end(world) - world.clock())
    done = world.play(180)
    assert done[CheckDisposition.CHECKED] >= 24
    assert min(left) >= timedelta(seconds=world.parts().slot_seconds)
    assert max(left) > min(left)


def test_a_process_that_lost_its_slot_takes_another_one() -> None:
    world = CheckWorld()
    ids = [world.target(f"https://h{number}.example/", interval_seconds=60) for number in range(2)]
    worker = world.worker(workers=2)
    assert worker.run([world.come_due(ids[0])], plenty_of_time) == {CheckDisposition.CHECKED: 1}
    lost = worker.slot
    assert lost is not None
    world.clock.advance(600)
    world.worker_slot(int(lost.name.partition("#")[2]))
    assert worker.run([world.come_due(ids[1])], plenty_of_time) == {CheckDisposition.CHECKED: 1}
    assert worker.slot is not None
    assert worker.slot.name != lost.name


def plenty_of_time() -> float:
    return 900.0


def slot_end(world: CheckWorld) -> datetime:
    ends = [world.slots._rows.get(worker_slot(number), (None, 0, None))[2] for number in range(8)]
    [end] = [each for each in ends if each is not None]
    return end


def test_a_target_that_cannot_be_read_leaves_the_others_of_its_host_their_checks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = CheckWorld()
    ids = [world.target(f"https://site.example/{n}", interval_seconds=300) for n in range(2)]
    orders = [world.come_due(each) for each in ids]
    read = world.watch.get

    def get(tenant: str, target_id: str) -> TargetWithState | None:
        if target_id == ids[0]:
            raise KeyError("an option of another release")
        return read(tenant, target_id)

    monkeypatch.setattr(world.watch, "get", get)
    orders = [replace(each, until=world.clock() + 60 * SECOND) for each in orders]
    done = world.worker().run(orders, plenty_of_time)
    assert done == {FAILED: 1, CheckDisposition.CHECKED: 1}
