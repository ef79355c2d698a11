"""Messages of a plug-in over the WebSocket, through the service that handles them."""

import json
from typing import Any

import pytest

from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection
from tests.fakes.jobs import FakeJobStore
from tests.fakes.live import FakeConnectionStore, FakeSockets, allowed
from tests.markets.world import MarketWorld


@pytest.fixture
def sockets() -> FakeSockets:
    return FakeSockets()


@pytest.fixture
def live(world: MarketWorld, sockets: FakeSockets) -> LiveService:
    jobs = FakeJobStore()
    service = LiveService(
        store=jobs,
        connections=FakeConnectionStore(jobs),
        sockets=sockets,
        clock=world.clock,
        others=world.inbox.actions,
    )
    service.connect(Connection(id="browser-9", tenant=world.tenant, key_id="key_1"))
    return service


def _say(live: LiveService, sockets: FakeSockets, **message: Any) -> Any:
    live.receive("browser-9", json.dumps(message), allowed, allowed, allowed)
    return sockets.received["browser-9"][-1]


def test_a_plug_in_that_says_hello_is_confirmed_and_found(
    live: LiveService, sockets: FakeSockets, world: MarketWorld
) -> None:
    told = _say(live, sockets, action="plugin.hello", marketplace="vinted")
    assert told == {"type": "confirmed", "of": "plugin.hello"}
    assert "browser-9" in {
        each.connection_id for each in world.plugins.newest(world.tenant, "vinted")
    }


@pytest.mark.parametrize(
    "message",
    [
        {"action": "plugin.hello", "marketplace": "vinted"},
        {"action": "plugin.accepted", "key": "k.0"},
        {"action": "plugin.answer", "key": "k.0", "status": 200, "body": {"id": 1}},
    ],
)
def test_a_key_that_may_only_read_is_no_plug_ins(
    message: dict[str, Any], live: LiveService, sockets: FakeSockets, world: MarketWorld
) -> None:
    world.readers.add("key_1")
    assert _say(live, sockets, **message)["code"] == "FORBIDDEN"
    known = [each.connection_id for each in world.plugins.newest(world.tenant, "vinted")]
    assert known == [world.plugin.connection.id]


def test_an_answer_that_nobody_needs_is_named(live: LiveService, sockets: FakeSockets) -> None:
    told = _say(live, sockets, action="plugin.answer", key="k.0", status=200, body={"id": 1})
    assert told["details"] == {"of": "plugin.answer", "key": "k.0"}


def test_a_browser_that_reconnects_tells_the_answer_that_was_lost(
    live: LiveService, sockets: FakeSockets, world: MarketWorld
) -> None:
    product = world.product()
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", product)
    world.once(ref)
    [key] = world.plugin.unconfirmed
    status, body = world.plugin.done[key]
    answer = {"key": key, "status": status, "body": dict(body), "browser": world.plugin.browser}
    told = _say(live, sockets, action="plugin.answer", **answer)
    assert told == {"type": "confirmed", "of": "plugin.answer", "key": key}
    world.plugin.mute = False
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.photos) == len(product.content.images)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"action": "plugin.hello", "marketplace": "ebay"}, "VALIDATION_ERROR"),
        ({"action": "plugin.hello", "marketplace": ["vinted"]}, "VALIDATION_ERROR"),
        ({"action": "plugin.accepted", "key": "\ud800.1"}, "VALIDATION_ERROR"),
        ({"action": "plugin.hello", "marketplace": "vinted", "browser": ""}, "VALIDATION_ERROR"),
        ({"action": "plugin.answer", "key": "k", "status": "200", "body": {}}, "VALIDATION_ERROR"),
        ({"action": "plugin.answer", "key": "k", "status": 200, "body": {}}, "NOT_FOUND"),
        ({"action": "plugin.accepted", "key": ""}, "VALIDATION_ERROR"),
        ({"action": "plugin.dance"}, "VALIDATION_ERROR"),
    ],
)
def test_what_makes_no_sense_is_answered_with_an_error(
    message: dict[str, Any], code: str, live: LiveService, sockets: FakeSockets
) -> None:
    assert _say(live, sockets, **message)["code"] == code
