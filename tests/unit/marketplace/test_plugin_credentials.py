"""Connections of a plug-in, as a person or with an API key, directly or with a ticket."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from spinneret.access import limits
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission, Role
from spinneret.access.tenants.service import TenantService
from spinneret.aws.stage import Builder
from spinneret.jobs.live.service import LiveService
from spinneret.marketplace.plugins.inbox import PluginInbox
from spinneret.runtime.sockets import socket_entrypoint
from tests.fakes.jobs import FakeJobStore
from tests.fakes.keys import FakeKeyStore
from tests.fakes.live import FakeConnectionStore, FakeSockets
from tests.fakes.tenants import FakeHolds, FakeTenantStore
from tests.markets.world import MarketWorld
from tests.unit.access.people.team import Team, make_team

CLIENT = "browser-9"
HELLO = json.dumps({"action": "plugin.hello", "marketplace": "vinted"})
CONFIRMED = {"type": "confirmed", "of": "plugin.hello"}
Request = dict[str, Any]


@dataclass(frozen=True)
class Services:
    """The services that the entry point uses."""

    keys: KeyService
    live: LiveService


@dataclass
class Door:
    """The WebSocket function with the credentials of one tenant."""

    team: Team
    sockets: FakeSockets
    handler: Callable[..., Any]

    def connect(self, request: Request) -> int:
        """Return the HTTP status of the handshake."""
        return self._send("CONNECT", **request)

    def hello(self) -> Any:
        """Return the answer to a plug-in's first message, or None if the connection is closed."""
        self._send("MESSAGE", body=HELLO)
        answers = self.sockets.received.pop(CLIENT, [])
        return answers[0] if answers else None

    def _send(self, kind: str, **more: Any) -> int:
        request = {"routeKey": "$default", "connectionId": CLIENT, "eventType": kind}
        event = {"requestContext": {**request, "requestId": "request-1"}, **more}
        return int(self.handler(event, None)["statusCode"])


@pytest.fixture
def door(memory: MarketWorld) -> Door:
    team, sockets, jobs = make_team(), FakeSockets(), FakeJobStore()
    inbox = PluginInbox(
        store=memory.plugins,
        tokens=memory.callbacks,
        marketplaces=frozenset({"vinted"}),
        may_act=lambda tenant, key_id: team.keys.allows(
            tenant, key_id, Scope.WRITE, Permission.PUBLISH_PRODUCT
        ),
        clock=team.clock,
    )
    live = LiveService(
        store=jobs,
        connections=FakeConnectionStore(jobs),
        sockets=sockets,
        clock=team.clock,
        others=inbox.actions,
    )
    services = Services(team.keys, live)
    return Door(team, sockets, socket_entrypoint(Builder(lambda _: services), "live"))


def by_key(team: Team, scope: Scope = Scope.WRITE) -> str:
    return team.keys.issue("acme", "laptop", frozenset({scope}))[1]


def by_token(team: Team, role: Role = Role.SELLER) -> str:
    team.person(role)
    return team.sign_in().access_token


def bearer(secret: str) -> Request:
    return {"headers": {"Authorization": f"Bearer {secret}"}}


def with_ticket(team: Team, secret: str) -> Request:
    ticket = team.keys.issue_ticket(team.keys.authenticate(secret), "job_1")
    return {"headers": {}, "queryStringParameters": {"ticket": ticket.secret}}


# covers T-03
@pytest.mark.parametrize(
    "request_of",
    [
        pytest.param(lambda team: {"headers": {"X-API-Key": by_key(team)}}, id="key"),
        pytest.param(lambda team: bearer(by_key(team)), id="key as bearer"),
        pytest.param(lambda team: bearer(by_token(team)), id="person"),
        pytest.param(lambda team: with_ticket(team, by_key(team)), id="ticket of a key"),
        pytest.param(lambda team: with_ticket(team, by_token(team)), id="ticket of a person"),
    ],
)
def test_a_plug_in_connects_with_a_key_or_as_a_person(
    request_of: Callable[[Team], Request], door: Door
) -> None:
    assert door.connect(request_of(door.team)) == 200
    assert door.hello() == CONFIRMED


@pytest.mark.parametrize(
    "request_of",
    [
        pytest.param(lambda team: bearer(by_key(team, Scope.READ)), id="key"),
        pytest.param(lambda team: bearer(by_token(team, Role.VIEWER)), id="person"),
        pytest.param(
            lambda team: with_ticket(team, by_token(team, Role.VIEWER)), id="ticket of a person"
        ),
    ],
)
def test_one_that_may_only_read_watches_but_takes_no_tasks(
    request_of: Callable[[Team], Request], door: Door
) -> None:
    assert door.connect(request_of(door.team)) == 200
    assert door.hello()["code"] == "FORBIDDEN"


@pytest.mark.parametrize("credential", [by_key, by_token])
def test_a_suspended_tenants_plug_in_is_disconnected_and_refused(
    credential: Callable[[Team], str], door: Door
) -> None:
    secret = credential(door.team)
    assert door.connect(bearer(secret)) == 200
    keys = door.team.keys.keys
    assert isinstance(keys, FakeKeyStore)
    store = FakeTenantStore(keys, door.team.user_store)
    tenants = TenantService(tenants=store, holds=FakeHolds(), clock=door.team.clock)
    tenants.suspend("acme", "unpaid")
    assert door.hello() is None
    assert CLIENT in door.sockets.ended
    door.team.clock.advance(limits.SESSION_CACHE_SECONDS)
    assert door.connect(bearer(secret)) == 403
