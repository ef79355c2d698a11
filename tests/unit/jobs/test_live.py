"""Live progress: pushes to subscribers, and the removal of unreachable ones."""

import json
from collections.abc import Callable
from threading import Barrier
from typing import Any

import pytest

from spinneret.jobs import limits
from spinneret.jobs.control import JobControl
from spinneret.jobs.live.pushes import Pushes, Subscribers, messages
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection, JobEvent, JobEventKind, JobRef
from spinneret.jobs.ports import NewJob
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.outbox.models import DomainEvent
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.live import FakeConnectionStore, FakeSockets, allowed
from tests.fakes.time import START, HandClock
from tests.kinds import KINDS
from tests.unit.jobs.worker_world import WorkerWorld, succeed

CLIENT = "client="


@pytest.fixture
def live(announcing: LiveService) -> LiveService:
    """Provide a live service with one client."""
    connect(announcing)
    return announcing


@pytest.fixture
def sink(pushes: Pushes) -> Subscribers:
    return Subscribers(pushes)


@pytest.fixture
def control(world: WorkerWorld, queue: FakeJobQueue, clock: HandClock) -> JobControl:
    store = world.published
    return JobControl(store=store, queue=queue, kinds=KINDS, clock=clock)


def connect(live: LiveService, client: str = CLIENT, **given: Any) -> None:
    """Open a connection; by default, its key doesn't expire."""
    values = {"tenant": factories.TENANT, "key_id": "key_1", **given}
    live.connect(Connection(id=client, **values))


def subscribe(live: LiveService, job_id: str = "job_1", client: str = CLIENT, **more: str) -> None:
    live.receive(
        client,
        json.dumps({"action": "subscribe", "job_id": job_id, **more}),
        allowed,
        allowed,
        allowed,
    )


def subscribers_of(connections: FakeConnectionStore, world: WorkerWorld) -> list[str]:
    """Return the ids of the connections that subscribe to the world's job."""
    return [each.connection_id for each in connections.subscribers(world.ref)]


def received(sockets: FakeSockets, client: str = CLIENT) -> list[str]:
    """Return the messages of the events that a client received."""
    return [
        item["message"]
        for message in sockets.received.get(client, [])
        if message["type"] == "events"
        for item in message["items"]
    ]


# covers P-07
def test_a_subscriber_gets_the_timeline_so_far_and_all_that_follows(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld
) -> None:
    subscribe(live)
    assert sockets.received[CLIENT][0] == {
        "type": "subscribed",
        "job_id": "job_1",
        "status": "pending",
    }
    assert received(sockets) == ["pending"]

    def handler(context: Context) -> dict[str, Any]:
        context.note(JobEventKind.METRIC, "12 links")
        context.checkpoint("fetching", 40)
        return {}

    world.run(handler)
    assert received(sockets) == ["pending", "running", "12 links", "fetching", "completed"]
    pushes = [each for each in sockets.received[CLIENT] if each["type"] == "events"]
    assert len(pushes) == 3  # the catch-up, and one push per write


def test_who_comes_while_the_job_runs_misses_nothing(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld
) -> None:
    def handler(context: Context) -> dict[str, Any]:
        context.checkpoint("fetching", 40)
        subscribe(live)
        context.checkpoint("embedding", 60)
        return {}

    world.run(handler)
    assert received(sockets) == ["pending", "running", "fetching", "embedding", "completed"]


def test_what_happens_while_a_subscriber_catches_up_is_not_lost(
    live: LiveService,
    sockets: FakeSockets,
    world: WorkerWorld,
    store: FakeJobStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_before_the_job_runs(*given: Any) -> list[JobEvent]:
        monkeypatch.undo()
        found = store.events(*given)
        world.run(succeed)
        return found

    monkeypatch.setattr(store, "events", read_before_the_job_runs)
    subscribe(live)
    assert set(received(sockets)) == {"pending", "running", "completed"}


def test_a_subscriber_learns_up_to_where_it_has_everything(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, store: FakeJobStore
) -> None:
    world.run(succeed)
    subscribe(live)
    last = store.events(world.ref, None, 99)[-1].id
    expected = {"type": "caught_up", "job_id": "job_1", "after": last, "has_more": False}
    assert sockets.received[CLIENT][-1] == expected
    subscribe(live, after=last)
    assert sockets.received[CLIENT][-1] == expected


def test_a_very_long_timeline_is_left_to_its_route(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "LIST_LIMIT_MAX", 1)
    monkeypatch.setattr(limits, "CATCH_UP_PAGES", 2)
    world.run(succeed)
    subscribe(live)
    assert received(sockets) == ["pending", "running"]
    assert sockets.received[CLIENT][-1]["has_more"]


def test_a_subscriber_may_say_what_it_has_seen(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, store: FakeJobStore
) -> None:
    world.run(succeed)
    seen = store.events(world.ref, None, 99)
    subscribe(live, after=seen[0].id)
    assert received(sockets) == ["running", "completed"]


def test_after_unsubscribing_nothing_more_comes(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld
) -> None:
    subscribe(live)
    live.receive(CLIENT, '{"action": "unsubscribe", "job_id": "job_1"}', allowed, allowed, allowed)
    assert sockets.received[CLIENT][-1] == {"type": "unsubscribed", "job_id": "job_1"}
    world.run(succeed)
    assert received(sockets) == ["pending"]


def test_a_job_without_watchers_is_announced_to_nobody(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld
) -> None:
    world.run(succeed)
    assert sockets.received == {}


@pytest.mark.parametrize(
    ("text", "code", "fields"),
    [
        ("", "VALIDATION_ERROR", None),
        ("hello", "VALIDATION_ERROR", None),
        ("[]", "VALIDATION_ERROR", None),
        ('{"action": "subscribe", "action": "subscribe"}', "VALIDATION_ERROR", None),
        ("{}", "VALIDATION_ERROR", ["action", "job_id"]),
        ('{"action": "sing", "job_id": "job_1"}', "VALIDATION_ERROR", ["action"]),
        ('{"action": "subscribe", "job_id": 1}', "VALIDATION_ERROR", ["job_id"]),
        (
            '{"action": "subscribe", "job_id": "job_1", "after": 1, "x": 1}',
            "VALIDATION_ERROR",
            ["after", "x"],
        ),
        (
            '{"action": "subscribe", "job_id": "job_1", "after": "~~"}',
            "VALIDATION_ERROR",
            ["after"],
        ),
        ('{"action": "subscribe", "job_id": "job_unknown"}', "NOT_FOUND", None),
        ('{"action": "subscribe", "job_id": "a#b"}', "NOT_FOUND", None),
        ('{"action": "unsubscribe", "job_id": "a#b"}', "NOT_FOUND", None),
        ('{"action": "subscribe", "job_id": "' + "x" * 3000 + '"}', "NOT_FOUND", None),
        ('{"action": "unsubscribe", "job_id": "' + "x" * 3000 + '"}', "NOT_FOUND", None),
        ('{"action": "unsubscribe", "job_id": ""}', "NOT_FOUND", None),
        (r'{"action": "unsubscribe", "job_id": "\ud800"}', "NOT_FOUND", None),
        (r'{"action": "subscribe", "job_id": "\ud800"}', "NOT_FOUND", None),
        (
            r'{"action": "subscribe", "job_id": "job_1", "\ud800": 1}',
            "VALIDATION_ERROR",
            ["\ud800"],
        ),
        (
            '{"action": "subscribe", "job_id": "' + "x" * limits.SOCKET_REQUEST_CHARS + '"}',
            "VALIDATION_ERROR",
            None,
        ),
    ],
)
def test_what_can_not_be_understood_is_answered_and_changes_nothing(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, text: str, code: str, fields: Any
) -> None:
    live.receive(CLIENT, text, allowed, allowed, allowed)
    [answer] = sockets.received[CLIENT]
    assert (answer["type"], answer["code"]) == ("error", code)
    if fields is not None:
        assert [each["path"] for each in answer["details"]["fields"]] == fields
    assert world.job.watchers == 0


@pytest.mark.parametrize(
    ("message", "path", "words"),
    [
        ({}, "action", "must be one of subscribe, unsubscribe"),
        ({}, "job_id", "must be a text"),
        ({"after": "1"}, "after", "must be the id of an event, such as 00000001-000003"),
        ({"job": "job_1"}, "job", "is unknown"),
        ({"subject": "t_1", "job_id": "job_1"}, "job_id", "is unknown"),
        ({"subject": 1}, "subject", "must be a text"),
    ],
)
def test_a_field_that_is_refused_is_answered_with_what_it_must_be(
    live: LiveService, sockets: FakeSockets, message: dict[str, object], path: str, words: str
) -> None:
    live.receive(CLIENT, json.dumps(message), allowed, allowed, allowed)
    [answer] = sockets.received[CLIENT]
    found = {each["path"]: each["message"] for each in answer["details"]["fields"]}
    assert found[path] == words


def test_a_foreign_job_is_answered_like_an_unknown_one(
    live: LiveService, sockets: FakeSockets, store: FakeJobStore
) -> None:
    job = factories.job(tenant="other", id="job_theirs")
    store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), job.created_at)
    subscribe(live, "job_theirs")
    subscribe(live, "job_unknown")
    first, second = sockets.received[CLIENT]
    assert first == second


def test_a_ticket_opens_one_job_only(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld
) -> None:
    world.add(factories.job(id="job_2"))
    connect(live, "browser=", only_job="job_1")
    subscribe(live, "job_2", "browser=")
    subscribe(live, "job_1", "browser=")
    types = [each["type"] for each in sockets.received["browser="]]
    assert types == ["error", "subscribed", "events", "caught_up"]


def test_a_message_of_a_closed_connection_ends_it(live: LiveService, sockets: FakeSockets) -> None:
    live.disconnect(CLIENT)
    subscribe(live)
    assert (sockets.received, sockets.ended) == ({}, [CLIENT])


@pytest.mark.parametrize("how", ["gone", "unreachable"])
def test_a_subscriber_that_can_not_be_reached_is_dropped_and_the_job_goes_on(
    live: LiveService,
    sockets: FakeSockets,
    world: WorkerWorld,
    connections: FakeConnectionStore,
    how: str,
) -> None:
    connect(live, "other=")
    subscribe(live)
    subscribe(live, client="other=")
    getattr(sockets, how).add(CLIENT)
    world.run(succeed)
    assert world.job.status == "completed"
    assert subscribers_of(connections, world) == ["other="]
    assert world.job.watchers == 1
    assert received(sockets, "other=")[-1] == "completed"


def test_no_watcher_waits_for_another(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, connections: FakeConnectionStore
) -> None:
    clients = [f"client-{number}=" for number in range(10)]
    for client in clients:
        connect(live, client)
        subscribe(live, client=client)
    together = Barrier(len(clients))
    sockets.on_post = lambda: together.wait(10)
    world.run(succeed)
    assert {received(sockets, client)[-1] for client in clients} == {"completed"}
    assert len(connections.subscribers(world.ref)) == 10


def test_a_subscriber_that_is_slow_learns_that_it_missed_something(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, clock: HandClock
) -> None:
    subscribe(live)

    def handler(context: Context) -> dict[str, Any]:
        sockets.on_post = lambda: clock.advance(limits.PUSH_SECONDS)
        for _ in range(30):
            context.note(JobEventKind.METRIC, "large", {"text": "x" * 7000})
        context.checkpoint("fetching", 40)
        return {}

    world.run(handler)
    assert sockets.ended == [CLIENT]
    assert world.job.watchers == 0


def test_a_cancelled_job_is_announced_too(
    live: LiveService, sockets: FakeSockets, cancel: Callable[[JobRef], None], world: WorkerWorld
) -> None:
    subscribe(live)
    cancel(world.ref)
    assert received(sockets) == ["pending", "cancelled"]


def domain_event(world: WorkerWorld, subject: str | None = None) -> DomainEvent:
    """Return an event about the world's job, or about another subject."""
    return DomainEvent(
        tenant=world.ref.tenant,
        type="crawl.completed",
        subject=subject or world.ref.job_id,
        sequence=3,
        occurred_at=START,
        data={"title": "Fäden"},
    )


def test_a_domain_event_about_a_job_comes_to_its_subscribers(
    live: LiveService, sink: Subscribers, sockets: FakeSockets, world: WorkerWorld
) -> None:
    subscribe(live)
    sink.take(domain_event(world, "tgt_1"))
    event = domain_event(world)
    sink.take(event)
    messages_ = [each for each in sockets.received[CLIENT] if each["type"] == "event"]
    assert messages_ == [
        {
            "type": "event",
            "subject": world.ref.job_id,
            "job_id": world.ref.job_id,
            "event": {
                "id": event.id,
                "type": "crawl.completed",
                "sequence": 3,
                "occurred_at": "2026-01-02T12:00:00.000000Z",
                "data": {"title": "Fäden"},
            },
        }
    ]


def test_domain_events_of_a_target_come_to_who_subscribed_to_it(
    live: LiveService, sink: Subscribers, sockets: FakeSockets, world: WorkerWorld
) -> None:
    def say(action: str, client: str = CLIENT) -> None:
        live.receive(
            client, json.dumps({"action": action, "subject": "t_1"}), allowed, allowed, allowed
        )

    connect(live, "other=", tenant="other")
    say("subscribe", "other=")
    for _ in range(2):
        say("subscribe")
    event = domain_event(world, "t_1")
    sink.take(event)
    say("unsubscribe")
    sink.take(event)
    assert [each["type"] for each in sockets.received[CLIENT]] == [
        *("subscribed", "subscribed", "event", "unsubscribed")
    ]
    [pushed] = [each for each in sockets.received[CLIENT] if each["type"] == "event"]
    assert (pushed["subject"], pushed["event"]["id"]) == ("t_1", event.id)
    assert sockets.received["other="] == [{"type": "subscribed", "subject": "t_1"}]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"action": "subscribe", "subject": 1}, "VALIDATION_ERROR"),
        ({"action": "sing", "subject": "t_1"}, "VALIDATION_ERROR"),
        ({"action": "subscribe", "subject": "t_1", "after": "1"}, "VALIDATION_ERROR"),
        ({"action": "subscribe", "subject": "t_1", "job_id": "job_1"}, "VALIDATION_ERROR"),
        ({"action": "subscribe", "subject": "a#b"}, "NOT_FOUND"),
        ({"action": "subscribe", "subject": "job_1"}, "CONFLICT"),
    ],
)
def test_what_is_no_subject_is_answered_so(
    live: LiveService, sockets: FakeSockets, message: dict[str, Any], code: str
) -> None:
    live.receive(CLIENT, json.dumps(message), allowed, allowed, allowed)
    assert [each["code"] for each in sockets.received[CLIENT]] == [code]


def test_a_ticket_of_a_job_opens_no_other_subject(live: LiveService, sockets: FakeSockets) -> None:
    connect(live, "ticket=", only_job="job_1")
    live.receive(
        "ticket=", json.dumps({"action": "subscribe", "subject": "t_1"}), allowed, allowed, allowed
    )
    assert [each["code"] for each in sockets.received["ticket="]] == ["NOT_FOUND"]


def test_a_client_that_is_out_of_reach_fails_no_domain_event(
    live: LiveService, sink: Subscribers, sockets: FakeSockets, world: WorkerWorld
) -> None:
    subscribe(live)
    sockets.unreachable.add(CLIENT)
    sink.take(domain_event(world))
    assert world.job.watchers == 0


def test_large_events_are_sent_in_messages_that_the_gateway_takes() -> None:
    events = [factories.event(fence=1, number=n, data={"text": "🕸" * 2000}) for n in range(1, 31)]
    texts = list(messages(factories.job().ref, events))
    assert len(texts) > 1
    assert all(len(text.encode()) <= 128 * 1024 for text in texts)
    items = [item for text in texts for item in json.loads(text)["items"]]
    assert [item["id"] for item in items] == [event.id for event in events]
