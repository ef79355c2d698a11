"""Events reach every sink in order, despite failures and concurrent relays."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count, pairwise
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    PermanentError,
    TransientError,
)
from spinneret.outbox import limits
from spinneret.outbox.items import wake_shard
from spinneret.outbox.models import DomainEvent, SubjectRef
from spinneret.outbox.relay import Relay, RelayResult
from tests.fakes.crashes import Crash, CrashPlan, Moment, Overtaken
from tests.fakes.outbox import FakeOutboxStore, FakeSink
from tests.fakes.time import START, HandClock
from tests.metrics import recorded
from tests.sampling import sampled

TENANT, SUBJECT = "t1", "job_1"
GRACE = limits.OUTBOX_GRACE_SECONDS
DAY = 24 * 3600


def event_of(sequence: int, subject: str = SUBJECT) -> DomainEvent:
    """Return an event of a subject."""
    return DomainEvent(
        tenant=TENANT,
        type="crawl.completed",
        subject=subject,
        sequence=sequence,
        occurred_at=START,
        data={},
    )


def failing(*sequences: int) -> Callable[[DomainEvent], Exception | None]:
    """Return a function that makes a sink fail for these events."""
    return lambda event: TransientError("down") if event.sequence in sequences else None


class World:
    """A relay with two sinks over stored events."""

    def __init__(self, *events: DomainEvent) -> None:
        self.clock = HandClock()
        self.store = FakeOutboxStore()
        self.bus, self.webhooks = FakeSink("bus"), FakeSink("webhooks")
        self.sinks = [self.bus, self.webhooks]
        self.relay = Relay(self.store, self.sinks, self.clock)
        for event in events:
            self.store.write(event)

    def relay_events(self, subject: str = SUBJECT) -> None:
        """Relay events, as the writer does after its commit."""
        self.relay.relay(TENANT, subject)

    def sweep_for(self, seconds: float) -> None:
        """Run a sweep every minute for `seconds`."""
        for _ in range(int(seconds // 60)):
            self.clock.advance(60)
            self.relay.sweep()


def sequences(events: list[DomainEvent]) -> list[int]:
    """Return the sequence numbers of the events."""
    return [event.sequence for event in events]


def test_every_sink_gets_the_events_of_a_subject_in_order_and_once() -> None:
    world = World(event_of(2), event_of(10), event_of(1))
    world.relay_events()
    world.relay_events()
    assert [sequences(sink.took) for sink in world.sinks] == [[1, 2, 10], [1, 2, 10]]
    assert world.store.rows == {}


def test_only_the_named_subject_is_handed_on() -> None:
    world = World(event_of(1), event_of(1, "other"))
    world.relay_events()
    assert [event.subject for event in world.bus.took] == [SUBJECT]


def test_a_sink_that_fails_stops_alone_and_goes_on_where_it_stopped() -> None:
    world = World(event_of(1), event_of(2), event_of(3), event_of(1, "other"))
    world.bus.refuse = lambda event: (
        TransientError("down") if event.sequence == 2 and event.subject == SUBJECT else None
    )
    world.relay_events()
    world.relay_events("other")
    assert sequences(world.webhooks.took) == [1, 2, 3, 1]
    assert [(event.subject, event.sequence) for event in world.bus.took] == [
        (SUBJECT, 1),
        ("other", 1),
    ]
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert sequences(world.bus.took) == [1, 1, 2, 3]
    assert sequences(world.webhooks.took) == [1, 2, 3, 1], "nobody gets again what is stored"
    assert world.store.rows == {}


def test_a_sink_that_failed_is_left_alone_until_its_next_try_and_gets_no_later_event() -> None:
    world = World(event_of(1))
    world.bus.refuse = failing(1)
    world.relay_events()
    world.bus.refuse = lambda _: None
    world.store.write(event_of(2))
    world.relay_events()
    assert world.bus.took == []
    assert sequences(world.webhooks.took) == [1, 2]
    world.clock.advance(limits.OUTBOX_RETRY_SECONDS)
    world.relay_events()
    assert sequences(world.bus.took) == [1, 2]


@pytest.mark.heavy
def test_an_event_that_waits_for_two_sinks_is_tried_when_the_first_of_them_is() -> None:
    world = World(event_of(1))
    world.bus.refuse = failing(1)
    world.relay_events()
    world.sweep_for(DAY / 2)
    world.webhooks.refuse = failing(2)
    for sequence in (2, 3):
        world.store.write(event_of(sequence))
    world.relay_events()
    world.webhooks.refuse = lambda _: None
    world.sweep_for(60)
    assert sequences(world.webhooks.took) == [1, 2, 3]


def test_only_a_sweep_counts_a_try_before_it_is_made() -> None:
    """An event may crash a sweep; if it crashes the writer, the next sweep runs anyway."""
    tries: list[int] = []
    world = World(event_of(1))
    world.bus.refuse = lambda _: tries.extend(row.tries for row in world.store.rows.values())
    world.relay_events()
    world.store.write(event_of(2))
    world.sweep_for(60)
    assert tries == [0, 1]


@pytest.mark.heavy
def test_a_failed_sink_is_tried_by_every_sweep_for_a_day(caplog: pytest.LogCaptureFixture) -> None:
    world = World(event_of(1))
    moments: list[float] = []

    def refuse(_: DomainEvent) -> Exception:
        moments.append((world.clock() - START).total_seconds())
        return DependencyUnavailable("bus")

    world.bus.refuse = refuse
    world.relay_events()
    world.sweep_for(3 * DAY)
    assert {late - early for early, late in pairwise(moments)} == {60}
    assert moments[-1] == DAY
    assert world.store.rows == {}
    abandoned = [each for each in caplog.records if each.message == "event_abandoned"]
    assert [(each.levelno, each.sink) for each in abandoned] == [  # type: ignore[attr-defined]
        (logging.ERROR, "bus")
    ]


@pytest.mark.parametrize("error", [TransientError("down"), ZeroDivisionError()], ids=str)
@pytest.mark.parametrize(("seconds", "tried"), [(DAY - 1, True), (DAY, False)])
def test_an_event_is_given_up_by_the_first_try_after_a_day(
    seconds: float, tried: bool, error: Exception
) -> None:
    world = World(event_of(1))
    world.bus.refuse = lambda _: error
    world.relay_events()
    world.clock.advance(seconds)
    world.relay_events()
    assert bool(world.store.rows) is tried


def test_an_event_that_ends_its_process_is_tried_later_each_time() -> None:
    world = World(event_of(1))
    moments: list[float] = []

    def die(_: DomainEvent) -> Exception:
        moments.append((world.clock() - START).total_seconds())
        raise Crash

    world.bus.refuse = die
    for _ in range(4 * 60):
        world.clock.advance(60)
        with suppress(Crash):
            world.relay.sweep()
    gaps = [late - early for early, late in pairwise(moments)]
    assert gaps == [60, 60, 120, 240, 480, 960, 1920, 3600, 3600]  # 30 s, rounded up to a sweep


def test_a_failure_of_a_sink_after_crashes_is_retried_within_a_minute() -> None:
    world = World(event_of(1))
    world.bus.refuse = lambda _: Crash()
    for _ in range(10):
        world.clock.advance(120)
        with suppress(Crash):
            world.relay.sweep()
    world.bus.refuse = failing(1)
    world.sweep_for(3600)
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert sequences(world.bus.took) == [1]


def test_a_try_that_ends_in_order_lets_the_next_crash_count_as_the_first() -> None:
    world = World(event_of(1))
    for refusal in (*[Crash()] * 10, TransientError("down"), Crash()):
        world.bus.refuse = lambda _, refusal=refusal: refusal  # type: ignore[misc]  # bound here
        world.clock.advance(limits.OUTBOX_CRASH_CAP_SECONDS)
        with suppress(Crash):
            world.relay.sweep()
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert sequences(world.bus.took) == [1]


def test_an_event_behind_a_stopped_one_is_tried_as_soon_as_that_one_is_taken() -> None:
    world = World(event_of(1), event_of(2))
    world.bus.refuse = failing(1)
    world.webhooks.refuse = failing(2)
    world.sweep_for(3600)
    world.bus.refuse = world.webhooks.refuse = lambda _: None
    world.sweep_for(60)
    assert [sequences(sink.took) for sink in world.sinks] == [[1, 2], [1, 2]]


# covers P-12
def test_a_sweep_records_the_age_of_the_oldest_event_as_a_metric() -> None:
    recorded()
    world = World(
        event_of(1), replace(event_of(2, "other"), occurred_at=START - timedelta(hours=1))
    )
    world.bus.refuse = failing(1)
    world.sweep_for(180)
    assert recorded() == {"outbox_lag_seconds": [3660, 120, 180]}
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert world.relay.sweep().lag_seconds == 0


@pytest.mark.heavy
def test_events_behind_one_that_is_given_up_get_their_chance() -> None:
    world = World(event_of(1), event_of(2), event_of(3))
    world.bus.refuse = failing(1, 2)
    world.relay_events()
    world.sweep_for(DAY + 2 * 3600)
    assert sequences(world.bus.took) == [3]
    assert world.bus.asked[event_of(2).id] >= 1
    assert world.store.rows == {}


def test_an_event_that_nobody_could_hand_on_for_days_is_still_tried() -> None:
    world = World(event_of(1))
    world.clock.advance(3 * DAY)
    world.bus.refuse = failing(1)
    world.relay.sweep()
    assert len(world.store.rows) == 1
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert sequences(world.bus.took) == [1]


def test_an_event_that_a_sink_can_never_take_is_given_up_at_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = World(event_of(1), event_of(2))
    world.bus.refuse = lambda event: PermanentError("too large") if event.sequence == 1 else None
    world.relay_events()
    assert sequences(world.bus.took) == [2]
    assert world.store.rows == {}
    assert "event_abandoned" in [each.message for each in caplog.records]


def test_a_fault_of_a_sink_reaches_neither_the_writer_nor_other_sinks() -> None:
    world = World(event_of(1))
    world.bus.refuse = lambda _: ZeroDivisionError()
    world.relay_events()
    assert sequences(world.webhooks.took) == [1]
    assert len(world.store.rows) == 1


def test_a_store_that_is_down_fails_no_writer(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(event_of(1))
    asked: list[Any] = []

    def down(*given: Any) -> Any:
        asked.append(given)
        raise DependencyUnavailable("dynamodb")

    with monkeypatch.context() as patch:
        patch.setattr(world.store, "pending", down)
        world.relay_events()
        patch.setattr(world.store, "to_wake", down)
        asked.clear()
        with pytest.raises(DependencyUnavailable):
            world.relay.sweep()
    assert len(asked) == bounds.SWEEP_REFUSALS
    world.sweep_for(60)
    assert sequences(world.bus.took) == [1]


@pytest.mark.heavy
def test_events_behind_a_waiting_one_are_not_looked_at_by_every_sweep() -> None:
    world = World(*map(event_of, range(50)))
    world.bus.refuse = failing(0)
    world.relay_events()
    world.sweep_for(7200)
    waits = {row.due_at for row in world.store.rows.values()}
    assert len(waits) == 1
    assert waits.pop() > world.clock()


def test_a_dead_sink_keeps_no_long_backlog_from_another() -> None:
    world = World(*map(event_of, range(3 * limits.OUTBOX_PAGE)))
    world.bus.refuse = failing(0)
    world.relay_events()
    assert sequences(world.webhooks.took) == list(range(3 * limits.OUTBOX_PAGE))


def test_one_subject_takes_no_more_than_its_time() -> None:
    world = World(*map(event_of, range(10)))

    def slow(_: DomainEvent) -> None:
        world.clock.advance(1)

    world.bus.refuse = slow
    world.relay_events()
    assert sequences(world.webhooks.took) == [0, 1, 2, 3, 4]
    world.sweep_for(180)
    assert sequences(world.webhooks.took) == list(range(10))


def test_a_sweep_hands_on_what_a_dead_writer_left_after_its_grace() -> None:
    world = World(event_of(1), event_of(2), event_of(1, "other"))
    world.clock.advance(GRACE - 1)
    assert world.relay.sweep() == RelayResult()
    world.clock.advance(1)
    assert world.relay.sweep() == RelayResult(handed_on=3, lag_seconds=GRACE)
    assert len(world.bus.took) == 3


def test_a_sweep_is_bounded_and_the_next_one_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OUTBOX_SUBJECTS", 10)
    monkeypatch.setattr(limits, "OUTBOX_PAGE", 2)
    world = World(*(event_of(1, f"job_{number}") for number in range(25)))
    world.clock.advance(GRACE)
    first = world.relay.sweep()
    assert first.handed_on == 10
    assert first.unfinished > 0
    world.sweep_for(120)
    assert len({event.subject for event in world.bus.took}) == 25


def test_a_sweep_relays_several_subjects_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of four relays waits for the other three."""
    monkeypatch.setattr(limits, "OUTBOX_SHARDS", 1)
    world = World(*(event_of(1, f"job_{number}") for number in range(8)))
    together = Barrier(4, timeout=10.0)

    def wait(_: DomainEvent) -> None:
        together.wait()

    world.bus.refuse = wait
    world.clock.advance(GRACE)
    relay = Relay(world.store, world.sinks, world.clock, at_once=4)
    assert relay.sweep() == RelayResult(handed_on=8, lag_seconds=GRACE)
    assert len({event.subject for event in world.bus.took}) == 8


def test_a_store_that_is_down_ends_a_sweep_of_several_subjects_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(*(event_of(1, f"job_{number}") for number in range(40)))
    asked = []

    def down(ref: Any, *_: Any) -> Any:
        asked.append(ref)
        raise DependencyUnavailable("dynamodb")

    monkeypatch.setattr(world.store, "pending", down)
    world.clock.advance(GRACE)
    with pytest.raises(DependencyUnavailable):
        Relay(world.store, world.sinks, world.clock, at_once=4).sweep()
    assert len(asked) < 40


def test_single_calls_without_an_answer_end_no_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OUTBOX_SHARDS", 1)
    world = World(*(event_of(1, f"job_{number}") for number in range(20)))
    read, reads = world.store.pending, count()

    def every_second(*given: Any) -> Any:
        if next(reads) % 2:
            raise DependencyUnavailable("dynamodb")
        return read(*given)

    monkeypatch.setattr(world.store, "pending", every_second)
    world.clock.advance(GRACE)
    result = world.relay.sweep()
    assert result.handed_on == result.failed == 10


def test_sweeps_whose_time_ends_early_begin_at_each_shard_in_turn() -> None:
    world = World(*(event_of(1, f"job_{number}") for number in range(100)))

    def use_up(_: DomainEvent) -> None:
        world.clock.advance(limits.OUTBOX_SWEEP_SECONDS)

    world.bus.refuse = use_up
    world.clock.advance(GRACE)
    for _ in range(limits.OUTBOX_SHARDS):
        begun = world.clock()
        world.relay.sweep()
        world.clock.advance((begun + timedelta(minutes=1) - world.clock()).total_seconds())
    begun_at = {
        wake_shard(SubjectRef(tenant=TENANT, subject=event.subject)) for event in world.bus.took
    }
    assert len(begun_at) == limits.OUTBOX_SHARDS


def test_an_event_that_ends_the_process_is_not_tried_again_at_once() -> None:
    world = World(event_of(1), event_of(1, "other"))

    def die(event: DomainEvent) -> None:
        if event.subject == SUBJECT:
            raise Crash

    world.bus.refuse = die
    world.clock.advance(GRACE)
    for _ in range(2):
        with suppress(Crash):
            world.relay.sweep()
    assert world.bus.asked[event_of(1).id] == 1
    assert [event.subject for event in world.webhooks.took] == ["other"]
    world.bus.refuse = lambda _: None
    world.sweep_for(60)
    assert len(world.bus.took) == 2


def test_a_subject_that_can_not_be_read_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(event_of(1), event_of(1, "other"))
    read = world.store.pending

    def broken(ref: Any, *given: Any) -> Any:
        if ref.subject == SUBJECT:
            raise KeyError("data")
        return read(ref, *given)

    monkeypatch.setattr(world.store, "pending", broken)
    world.clock.advance(GRACE)
    assert world.relay.sweep() == RelayResult(handed_on=1, failed=1, lag_seconds=GRACE)


# ---------------------------------------------------------------- Crashes and interleavings


def walk(world: World, plan: CrashPlan) -> None:
    """Relay the events, as the writer does, through watched ports."""
    store = plan.wrap("store", world.store)
    sinks = [_WatchedSink(plan, sink) for sink in world.sinks]
    Relay(store, sinks, world.clock).relay(TENANT, SUBJECT)


class _WatchedSink:
    def __init__(self, plan: CrashPlan, sink: FakeSink) -> None:
        self.name = sink.name
        self._plan = plan
        self._sink = sink

    def take(self, event: DomainEvent) -> None:
        self._plan.call(self.name, self._sink.take, event)


EVENTS = tuple(map(event_of, range(3)))


@pytest.mark.parametrize("down", [(), (1,)], ids=["all sinks up", "the bus down for one event"])
def test_a_writer_that_dies_at_any_call_loses_nothing_and_changes_no_order(
    down: tuple[int, ...],
) -> None:
    dry = World(*EVENTS)
    dry.bus.refuse = failing(*down)
    counting = CrashPlan()
    walk(dry, counting)
    points = counting.points()
    assert len(points) > 15
    for at, moment in points:
        world = World(*EVENTS)
        world.bus.refuse = failing(*down)
        plan = CrashPlan(at, moment)
        with suppress(Crash):  # no crash can follow a call that fails
            walk(world, plan)
        assert plan.crashed
        world.bus.refuse = lambda _: None
        world.sweep_for(300)
        for sink in world.sinks:
            assert sequences(sink.first_sights) == [0, 1, 2], (at, moment, sink.name)
        assert world.store.rows == {}


@pytest.mark.parametrize("late", sampled([0, 60]), ids=["at once", "a minute later"])
@pytest.mark.parametrize("first_down", [(), (0,), (1,)])
@pytest.mark.parametrize("then_down", [(), (0,), (1,)])
def test_two_processes_at_once_lose_nothing_and_change_no_order(
    first_down: tuple[int, ...], then_down: tuple[int, ...], late: float
) -> None:
    """At each call of the first process, a second one relays and the failing sinks change."""
    for at in range(1, 20):
        for moment in (Moment.BEFORE, Moment.AFTER):
            world = World(*EVENTS)
            world.bus.refuse = failing(*first_down)
            world.webhooks.refuse = failing(*then_down)

            def other(world: World = world) -> None:
                world.bus.refuse = failing(*then_down)
                world.webhooks.refuse = failing(*first_down)
                world.clock.advance(late)
                world.relay_events()

            walk(world, Overtaken(at, moment, other))
            for sink in world.sinks:
                sink.refuse = lambda _: None
            world.sweep_for(600)
            for sink in world.sinks:
                assert sequences(sink.first_sights) == [0, 1, 2], (at, moment, sink.name)
            assert world.store.rows == {}


@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("write"), st.integers(0, 1)),
            st.tuples(st.just("hand on"), st.integers(0, 1)),
            st.tuples(st.just("sweep"), st.integers(1, 3000)),
            st.tuples(st.just("bus"), st.integers(0, 1)),
            st.tuples(st.just("webhooks"), st.integers(0, 1)),
        ),
        max_size=40,
    )
)
def test_whatever_fails_when_each_sink_sees_all_events_of_a_subject_in_order(
    steps: list[tuple[str, int]],
) -> None:
    world = World()
    written: dict[str, int] = {"a": 0, "b": 0}
    down: dict[str, bool] = {"bus": False, "webhooks": False}
    for sink in world.sinks:
        sink.refuse = lambda _, name=sink.name: TransientError("down") if down[name] else None  # type: ignore[misc]
    for what, number in steps:
        match what:
            case "write":
                subject = "ab"[number]
                written[subject] += 1
                world.store.write(event_of(written[subject], subject))
            case "hand on":
                world.relay_events("ab"[number])
            case "sweep":
                world.clock.now += timedelta(seconds=number)
                world.relay.sweep()
            case _:
                down[what] = bool(number)
    down = dict.fromkeys(down, False)
    world.sweep_for(2 * 3600)
    for sink in world.sinks:
        for subject, number in written.items():
            sights = [event.sequence for event in sink.took if event.subject == subject]
            assert sights == list(range(1, number + 1)), "once, as nobody died, and in order"
    assert world.store.rows == {}
