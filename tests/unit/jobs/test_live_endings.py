"""A connection lasts no longer than the key or ticket that opened it."""

import logging
from datetime import timedelta
from typing import Any

import pytest

from spinneret.access.trail.event_types import EVENT_TYPES
from spinneret.events.clients.sink import ClientSink
from spinneret.jobs.live.pushes import Pushes, Subscribers
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.outbox.models import DomainEvent
from tests import factories
from tests.fakes.live import FakeConnectionStore, FakeSockets, allowed
from tests.fakes.time import START, HandClock
from tests.unit.jobs.worker_world import WorkerWorld, succeed

CLIENT, OTHER = "client=", "other="
SUBSCRIBE = '{"action": "subscribe", "job_id": "job_1"}'
UNSUBSCRIBE = '{"action": "unsubscribe", "job_id": "job_1"}'


@pytest.fixture
def live(announcing: LiveService) -> LiveService:
    return announcing


class Keys:
    """A check of keys against a set of valid ones; it can be made unavailable."""

    def __init__(self, *good: str) -> None:
        self.good = {(factories.TENANT, key_id) for key_id in good}
        self.available = True

    def __call__(self, tenant: str, key_id: str) -> bool:
        if not self.available:
            raise DependencyUnavailable("dynamodb")
        return (tenant, key_id) in self.good


@pytest.fixture
def keys() -> Keys:
    return Keys("key_1", "key_2")


def subscribe(live: LiveService, client: str = CLIENT, key_id: str = "key_1", **given: Any) -> None:
    """Open a connection and subscribe to the world's job."""
    live.connect(Connection(id=client, tenant=factories.TENANT, key_id=key_id, **given))
    live.receive(client, SUBSCRIBE, Keys(key_id), allowed, allowed)


def subscribers_of(connections: FakeConnectionStore, world: WorkerWorld) -> list[str]:
    return [each.connection_id for each in connections.subscribers(world.ref)]


# ---------------------------------------------------------------- Messages


@pytest.mark.parametrize("text", [SUBSCRIBE, UNSUBSCRIBE, "hello", ""])
def test_whatever_a_client_says_after_its_key_was_revoked_ends_it(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, keys: Keys, text: str
) -> None:
    subscribe(live)
    before = list(sockets.received[CLIENT])
    keys.good.clear()
    live.receive(CLIENT, text, keys, allowed, allowed)
    assert sockets.ended == [CLIENT]
    world.run(succeed)
    assert sockets.received[CLIENT] == before
    assert world.job.watchers == 0


def test_a_message_after_the_end_of_its_ticket_ends_a_connection(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, clock: HandClock, keys: Keys
) -> None:
    subscribe(live, ends_at=clock() + timedelta(seconds=900), only_job="job_1")
    clock.advance(899.999999)
    live.receive(CLIENT, SUBSCRIBE, keys, allowed, allowed)
    assert sockets.ended == []
    clock.advance(0.000001)
    live.receive(CLIENT, SUBSCRIBE, keys, allowed, allowed)
    assert sockets.ended == [CLIENT]
    assert world.job.watchers == 0


def test_a_message_is_not_answered_while_its_key_can_not_be_checked(
    live: LiveService, sockets: FakeSockets, keys: Keys
) -> None:
    live.connect(Connection(id=CLIENT, tenant=factories.TENANT, key_id="key_1"))
    keys.available = False
    with pytest.raises(DependencyUnavailable):
        live.receive(CLIENT, SUBSCRIBE, keys, allowed, allowed)
    assert (sockets.received, sockets.ended) == ({}, [])


# ---------------------------------------------------------------- Pushes


def test_a_subscriber_whose_ticket_has_ended_is_dropped_instead_of_served(
    live: LiveService,
    sockets: FakeSockets,
    world: WorkerWorld,
    connections: FakeConnectionStore,
    clock: HandClock,
) -> None:
    subscribe(live, ends_at=clock() + timedelta(seconds=900))
    subscribe(live, OTHER, ends_at=clock() + timedelta(seconds=901))
    before = list(sockets.received[CLIENT])
    clock.advance(900)
    world.run(succeed)
    assert sockets.received[CLIENT] == before
    assert sockets.ended == [CLIENT]
    assert sockets.received[OTHER][-1]["items"][-1]["message"] == "completed"
    assert subscribers_of(connections, world) == [OTHER]


# ---------------------------------------------------------------- Account events


@pytest.mark.parametrize("event_type", EVENT_TYPES)
def test_an_event_of_an_account_is_pushed_to_nobody_and_may_end_the_person_s_connections(
    live: LiveService, sockets: FakeSockets, clock: HandClock, event_type: str
) -> None:
    pushes = Pushes(
        connections=live.connections,
        sockets=sockets,
        monotonic=lambda: clock().timestamp(),
        clock=clock,
    )
    for client, key_id in ((CLIENT, "u_1"), (OTHER, "key_1")):
        live.connect(Connection(id=client, tenant=factories.TENANT, key_id=key_id))
        live.receive(
            client, '{"action": "subscribe", "subject": "u_1"}', Keys(key_id), allowed, allowed
        )
    event = DomainEvent(
        tenant=factories.TENANT,
        type=event_type,
        subject="u_1",
        sequence=1,
        occurred_at=START,
        data={"address": "203.0.113.7"},
    )
    ClientSink(subscribers=Subscribers(pushes), live=live).take(event)
    got = {each["type"] for texts in sockets.received.values() for each in texts}
    lasts = event_type in {"user.signed_in", "user.sign_in_failed", "user.locked_out"}
    assert (got, sockets.ended) == ({"subscribed"}, [] if lasts else [CLIENT])


# ---------------------------------------------------------------- Revocation


def test_the_connections_of_a_revoked_key_are_ended_and_no_others(
    live: LiveService, sockets: FakeSockets, world: WorkerWorld, connections: FakeConnectionStore
) -> None:
    subscribe(live)
    subscribe(live, "browser=", only_job="job_1")
    subscribe(live, OTHER, "key_2")
    live.connect(Connection(id="stranger=", tenant="stranger", key_id="key_1"))
    live.end_all(factories.TENANT, "key_1")
    assert sorted(sockets.ended) == ["browser=", CLIENT]
    assert subscribers_of(connections, world) == [OTHER]
    recorded = len(sockets.received[CLIENT])
    world.run(succeed)
    assert len(sockets.received[CLIENT]) == recorded
    assert connections.find("stranger=") is not None


def test_a_key_without_connections_ends_none(live: LiveService, sockets: FakeSockets) -> None:
    live.end_all(factories.TENANT, "key_1")
    assert sockets.ended == []


def test_all_pages_of_connections_are_ended(
    live: LiveService, sockets: FakeSockets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "LIST_LIMIT_MAX", 2)
    names = [f"client-{number}=" for number in range(5)]
    for name in names:
        live.connect(Connection(id=name, tenant=factories.TENANT, key_id="key_1"))
    live.end_all(factories.TENANT, "key_1")
    assert sorted(sockets.ended) == names


def test_a_socket_that_can_not_be_ended_gets_nothing_more_and_is_ended_by_its_next_message(
    live: LiveService,
    sockets: FakeSockets,
    world: WorkerWorld,
    keys: Keys,
    caplog: pytest.LogCaptureFixture,
) -> None:
    subscribe(live)
    subscribe(live, OTHER)
    recorded = len(sockets.received[CLIENT])
    sockets.unreachable.add(CLIENT)
    with caplog.at_level(logging.WARNING, "spinneret"):
        live.end_all(factories.TENANT, "key_1")
    assert [record.message for record in caplog.records] == ["socket_left"]
    assert sockets.ended == [OTHER]
    sockets.unreachable.clear()
    world.run(succeed)
    assert len(sockets.received[CLIENT]) == recorded
    live.receive(CLIENT, SUBSCRIBE, keys, allowed, allowed)
    assert sockets.ended == [OTHER, CLIENT]


def test_what_an_outage_leaves_is_logged_and_ended_by_revoking_again(
    live: LiveService,
    sockets: FakeSockets,
    connections: FakeConnectionStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    subscribe(live)
    connections.available = False
    with caplog.at_level(logging.WARNING, "spinneret"):
        live.end_all(factories.TENANT, "key_1")
    assert [record.message for record in caplog.records] == ["connections_left"]
    assert sockets.ended == []
    connections.available = True
    live.end_all(factories.TENANT, "key_1")
    assert sockets.ended == [CLIENT]


def test_sockets_that_are_slow_to_end_are_left_to_their_next_message(
    live: LiveService, sockets: FakeSockets, clock: HandClock, keys: Keys
) -> None:
    names = [f"client-{number}=" for number in range(9)]
    for name in names:
        live.connect(Connection(id=name, tenant=factories.TENANT, key_id="key_1"))
    sockets.on_end = lambda: clock.advance(2)
    live.end_all(factories.TENANT, "key_1")
    assert sockets.ended == names[:5]
    for name in names[5:]:
        live.receive(name, SUBSCRIBE, keys, allowed, allowed)
    assert (sockets.ended, sockets.received) == (names, {})


def test_ending_connections_takes_ten_seconds_at_most(
    live: LiveService,
    sockets: FakeSockets,
    connections: FakeConnectionStore,
    clock: HandClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number in range(9):
        live.connect(Connection(id=f"client-{number}=", tenant=factories.TENANT, key_id="key_1"))
    connections.on_close = lambda: clock.advance(2)
    with caplog.at_level(logging.WARNING, "spinneret"):
        live.end_all(factories.TENANT, "key_1")
    assert [record.message for record in caplog.records] == ["connections_left"]
    assert clock() == START + timedelta(seconds=10)
    live.end_all(factories.TENANT, "key_1")
    assert connections.opened_with(factories.TENANT, "key_1", None, 9) == []
