"""Reports of checks reach the bus, webhooks and WebSocket clients through the relay."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest

from spinneret.events.bus.eventbridge import EventBridgeBus
from spinneret.jobs.live.pushes import Pushes, Subscribers
from spinneret.jobs.models import Connection, JobRef
from spinneret.kernel.errors import FetchTimeout
from spinneret.monitoring.event_types import EVENT_TYPES
from spinneret.outbox.relay import Relay
from spinneret.web.fetching.models import Certificate
from tests.fakes.checking import CheckWorld
from tests.fakes.fetching import fetched_page
from tests.fakes.live import FakeConnectionStore, FakeSockets
from tests.fakes.time import START
from tests.fakes.webhook_world import WebhookWorld

URL, CLIENT = "https://site.example/", "client_1"
FINE, OTHER = (sha256(body).hexdigest() for body in (b"fine", b"other"))


class FakeBus:
    """The only method of boto3's client that the bus calls; it keeps the details of events."""

    def __init__(self) -> None:
        self.details: list[dict[str, Any]] = []

    def put_events(self, *, Entries: Sequence[Any]) -> Any:  # noqa: N803 - boto3's
        self.details += [json.loads(entry["Detail"]) for entry in Entries]
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "one"} for _ in Entries]}


class Audience:
    """A world of checks whose events are relayed to all three sinks."""

    def __init__(self) -> None:
        self.world = CheckWorld()
        self.hooks = WebhookWorld()
        self.hooks.clock = self.world.clock
        self.hooks.endpoint(events=frozenset({"target.*", "certificate.*", "content.*"}))
        self.bus, self.sockets = FakeBus(), FakeSockets()
        self.connections = FakeConnectionStore(self.hooks.store)
        clock = self.world.clock
        pushes = Pushes(
            connections=self.connections,
            sockets=self.sockets,
            monotonic=lambda: clock().timestamp(),
            clock=clock,
        )
        bus: Any = self.bus
        sinks = [Subscribers(pushes), self.hooks.sink, EventBridgeBus(bus, "spinneret-test")]
        self.outbox = self.hooks.store.outbox
        self._relay = Relay(self.outbox, sinks, clock)
        self._written = 0

    def target(self, **options: Any) -> str:
        """Create a target and subscribe a client to it."""
        target_id = self.world.target(URL, **options)
        connection = Connection(id=CLIENT, tenant="acme", key_id="key_1")
        self.connections.open(connection, self.world.clock())
        ref = JobRef(tenant="acme", job_id=target_id)
        self.connections.subscribe_to_events(connection, ref, self.world.clock())
        return target_id

    def check(self, target_id: str) -> None:
        self.world.check(target_id, relay_events=self._relay_events)

    def _relay_events(self, tenant: str, subject: str) -> None:
        """Write the events of the check's transaction to the outbox, then relay them."""
        for event in self.world.watch.events[self._written :]:
            self.outbox.write(event)
        self._written = len(self.world.watch.events)
        self._relay.relay(tenant, subject)


def fails(world: CheckWorld) -> None:
    world.sites.answers[URL] = FetchTimeout("too slow")


def slows_down(world: CheckWorld) -> None:
    world.sites.seconds["site.example"] = 0.9


def shows_an_old_certificate(world: CheckWorld) -> None:
    world.sites.certificates["site.example"] = Certificate(
        subject="CN=site.example",
        issuer="CN=authority",
        names=(),
        not_before=START - timedelta(days=80),
        not_after=START + timedelta(days=10),
    )


def changes(world: CheckWorld) -> None:
    world.sites.answers[URL] = fetched_page(URL, b"other")


def gets_busy(world: CheckWorld) -> None:
    world.sites.answers[URL] = replace(
        fetched_page(URL, b"fine", status_code=429), headers={"retry-after": "60"}
    )


@pytest.mark.parametrize(
    ("happens", "checks", "event_type", "facts"),
    [
        (fails, 3, "target.down", {"status": "down", "from": "up"}),
        (slows_down, 3, "target.degraded", {"status": "degraded", "latency_ms": 900}),
        (shows_an_old_certificate, 1, "certificate.expiring", {"days_left": 9}),
        (changes, 1, "content.changed", {"from": FINE, "to": OTHER}),
        (gets_busy, 5, "target.skipped", {"skips": 4}),
    ],
)
def test_what_a_check_reports_reaches_all_who_want_to_know(
    happens: Callable[[CheckWorld], None], checks: int, event_type: str, facts: dict[str, Any]
) -> None:
    everybody = Audience()
    target_id = everybody.target(degraded_ms=500, watch_content=True, name="Shop")
    everybody.check(target_id)
    happens(everybody.world)
    for _ in range(checks):
        everybody.check(target_id)
    [detail] = everybody.bus.details
    assert (detail["type"], detail["subject"], detail["tenant"]) == (event_type, target_id, "acme")
    assert (detail["data"]["target_id"], detail["data"]["name"]) == (target_id, "Shop")
    assert {name: detail["data"][name] for name in facts} == facts
    [delivery] = everybody.hooks.deliveries()
    body = json.loads(delivery.payload["body"])
    assert (body["id"], body["type"]) == (detail["id"], event_type)
    assert body["data"] == detail["data"]
    [message] = everybody.sockets.received[CLIENT]
    assert (message["subject"], message["event"]["type"]) == (target_id, event_type)
    assert message["event"]["data"] == detail["data"]
    assert not everybody.outbox.rows
    assert event_type in EVENT_TYPES


def test_a_recovery_is_told_after_its_outage() -> None:
    everybody = Audience()
    target_id = everybody.target()
    fails(everybody.world)
    for _ in range(3):
        everybody.check(target_id)
    everybody.world.sites.answers.clear()
    for _ in range(2):
        everybody.check(target_id)
    told = [each["type"] for each in everybody.bus.details]
    assert told == ["target.down", "target.up"]
    assert [each["event"]["type"] for each in everybody.sockets.received[CLIENT]] == told
    bodies = [json.loads(each.payload["body"]) for each in everybody.hooks.deliveries()]
    assert [each["type"] for each in bodies] == told
