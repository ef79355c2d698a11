"""The WebSocket function on fakes, with the events that API Gateway sends."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.aws.stage import Builder
from spinneret.jobs.live.service import LiveService
from spinneret.jobs.models import Connection
from spinneret.jobs.ports import NewJob
from spinneret.runtime.sockets import socket_entrypoint
from tests import factories
from tests.fakes.jobs import FakeJobStore
from tests.fakes.keys import FakeKeyStore, FakeRateLimitStore
from tests.fakes.live import FakeConnectionStore, FakeSockets
from tests.fakes.time import HandClock

CLIENT = "client="
SUBSCRIBE = '{"action": "subscribe", "job_id": "job_1"}'
Call = Callable[..., int]


@dataclass(frozen=True)
class Services:
    """Services that the entry point uses."""

    keys: KeyService
    live: LiveService


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def store() -> FakeJobStore:
    """Provide a store with one job."""
    store, job = FakeJobStore(), factories.job()
    store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), job.created_at)
    return store


@pytest.fixture
def key_store() -> FakeKeyStore:
    return FakeKeyStore()


@pytest.fixture
def sockets() -> FakeSockets:
    return FakeSockets()


@pytest.fixture
def connections(store: FakeJobStore) -> FakeConnectionStore:
    return FakeConnectionStore(store)


@pytest.fixture
def keys(key_store: FakeKeyStore, clock: HandClock) -> KeyService:
    numbers = iter(range(1, 1000))
    return KeyService(
        keys=key_store,
        windows=FakeRateLimitStore(),
        clock=clock,
        new_id=lambda prefix: f"{prefix}_{next(numbers)}",
        random=lambda length: next(numbers).to_bytes(length, "little"),
    )


@pytest.fixture
def call(
    store: FakeJobStore,
    connections: FakeConnectionStore,
    sockets: FakeSockets,
    keys: KeyService,
    clock: HandClock,
) -> Call:
    """Provide `call("CONNECT", key=…)`, which calls the function and returns the status code."""
    live = LiveService(store=store, connections=connections, sockets=sockets, clock=clock)
    handler = socket_entrypoint(Builder(lambda _: Services(keys, live)), "live")

    def ask(
        kind: str, text: str | None = None, key: str | None = None, ticket: str | None = None
    ) -> int:
        request = {"routeKey": "$default", "connectionId": CLIENT, "eventType": kind}
        event = {
            "requestContext": {**request, "requestId": "request-1"},
            "headers": {"X-API-Key": key} if key else None,
            "queryStringParameters": {"ticket": ticket} if ticket else None,
            "body": text,
        }
        answer: dict[str, Any] = handler(event, None)  # type: ignore[arg-type]  # looks at no context
        return int(answer["statusCode"])

    return ask


def issued(keys: KeyService, **given: Any) -> tuple[str, str]:
    """Return a new key's id and secret."""
    key, secret = keys.issue("acme", "laptop", frozenset({Scope.READ}), **given)
    return key.id, secret


def watchers(store: FakeJobStore) -> int:
    job = store.get(factories.job().ref)
    assert job is not None
    return job.watchers


def test_a_connection_remembers_its_key(
    call: Call, keys: KeyService, connections: FakeConnectionStore, clock: HandClock
) -> None:
    end = clock() + timedelta(hours=1)
    for given in ({}, {"expires_at": end}):
        key_id, secret = issued(keys, **given)
        assert call("CONNECT", key=secret) == 200
        expected = Connection(
            id=CLIENT, tenant="acme", key_id=key_id, ends_at=given.get("expires_at")
        )
        assert connections.find(CLIENT) == expected


def test_a_connection_by_a_ticket_ends_with_it(
    call: Call, keys: KeyService, connections: FakeConnectionStore
) -> None:
    key_id, secret = issued(keys)
    ticket = keys.issue_ticket(keys.authenticate(secret), "job_1")
    assert call("CONNECT", ticket=ticket.secret) == 200
    assert connections.find(CLIENT) == Connection(
        id=CLIENT, tenant="acme", key_id=key_id, ends_at=ticket.expires_at, only_job="job_1"
    )


@pytest.mark.parametrize("given", [{}, {"key": "spn_unknown"}, {"ticket": "spt_unknown"}])
def test_without_a_valid_credential_there_is_no_connection(
    call: Call, connections: FakeConnectionStore, given: dict[str, str]
) -> None:
    assert call("CONNECT", **given) == 401
    assert connections.find(CLIENT) is None


def test_a_key_that_another_process_revoked_opens_no_connection(
    call: Call, keys: KeyService, key_store: FakeKeyStore, clock: HandClock
) -> None:
    """The key's connections have just been ended; nothing would end this one."""
    key_id, secret = issued(keys)
    keys.authenticate(secret)  # cached for five seconds
    key_store.revoke("acme", key_id, clock())
    assert call("CONNECT", key=secret) == 401


def test_a_key_without_the_permission_to_view_jobs_opens_no_connection(
    call: Call, keys: KeyService, connections: FakeConnectionStore
) -> None:
    _, secret = issued(keys, permissions=frozenset({Permission.CRAWL}))
    assert call("CONNECT", key=secret) == 403
    assert connections.find(CLIENT) is None


def test_a_narrowed_key_follows_only_subjects_that_it_may_read(
    call: Call, keys: KeyService, sockets: FakeSockets
) -> None:
    permissions = frozenset({Permission.VIEW_JOBS, Permission.VIEW_CRAWLS})
    _, secret = issued(keys, permissions=permissions)
    assert call("CONNECT", key=secret) == 200
    for subject in ("t_1", "source_1"):
        text = json.dumps({"action": "subscribe", "subject": subject})
        assert call("MESSAGE", text) == 200
    refused, followed = sockets.received[CLIENT]
    assert (refused["type"], refused["code"]) == ("error", "FORBIDDEN")
    assert followed == {"type": "subscribed", "subject": "source_1"}


@pytest.mark.parametrize("text", [SUBSCRIBE, "{broken", '{"action": "plugin.hello"}'])
def test_messages_count_in_the_rate_of_their_key(
    call: Call, keys: KeyService, sockets: FakeSockets, text: str
) -> None:
    assert call("CONNECT", key=issued(keys, rate_limit_rpm=3)[1]) == 200  # this request counts, too
    for _ in range(3):
        assert call("MESSAGE", text) == 200
    codes = [message.get("code") for message in sockets.received[CLIENT]]
    assert (codes.count("RATE_LIMITED"), codes[-1]) == (1, "RATE_LIMITED")


def test_a_message_after_the_revocation_of_its_key_ends_the_connection(
    call: Call, keys: KeyService, sockets: FakeSockets, store: FakeJobStore
) -> None:
    key_id, secret = issued(keys)
    assert call("CONNECT", key=secret) == 200
    assert call("MESSAGE", SUBSCRIBE) == 200
    assert watchers(store) == 1
    keys.revoke("acme", key_id)
    assert call("MESSAGE", SUBSCRIBE) == 200
    assert (sockets.ended, watchers(store)) == ([CLIENT], 0)


def test_a_message_waits_for_nothing_while_the_keys_are_down(
    call: Call, keys: KeyService, key_store: FakeKeyStore, sockets: FakeSockets
) -> None:
    _, secret = issued(keys)
    assert call("CONNECT", key=secret) == 200
    key_store.available = False
    assert call("MESSAGE", SUBSCRIBE) == 503
    assert sockets.received == {}


def test_a_connection_that_is_gone_is_forgotten(
    call: Call, keys: KeyService, connections: FakeConnectionStore
) -> None:
    assert call("CONNECT", key=issued(keys)[1]) == 200
    assert call("DISCONNECT") == 200
    assert connections.find(CLIENT) is None
