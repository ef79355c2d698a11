"""Live progress through the deployed WebSocket function and its gateway."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from operator import itemgetter
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.website import Website

pytestmark = pytest.mark.stack

JOBS = "/api/v1/jobs"
KEYS = "/api/v1/api-keys"
SECONDS = 30.0
Connect = Callable[..., ClientConnection]


@pytest.fixture
def connected(deployed: Deployed) -> Iterator[Connect]:
    """Yield a function that opens WebSockets by `key=…` or `ticket=…`; they close with the test."""
    address = deployed.outputs["WebSocketUrl"].replace("http://", "ws://")

    with ExitStack() as open_ones:

        def open_one(key: str | None = None, ticket: str | None = None) -> ClientConnection:
            query = f"?ticket={ticket}" if ticket else ""
            headers = {"X-API-Key": key} if key else {}
            made = connect(address + query, additional_headers=headers, open_timeout=SECONDS)
            return open_ones.enter_context(made)

        yield open_one


def say(socket: ClientConnection, action: str, job_id: str, **more: str) -> None:
    socket.send(json.dumps({"action": action, "job_id": job_id, **more}))


def hear(socket: ClientConnection) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(socket.recv(timeout=SECONDS))
    return message


def hear_until(socket: ClientConnection, last: str) -> list[dict[str, Any]]:
    """Return the events up to the one with this message."""
    items: list[dict[str, Any]] = []
    while not items or items[-1]["message"] != last:
        message = hear(socket)
        if message["type"] == "events":
            items += message["items"]
    return items


def _caught_up(socket: ClientConnection) -> tuple[list[dict[str, Any]], str]:
    """Return the events until the client has caught up, and the id to continue after.

    A push may overtake the catch-up and repeat an event.
    """
    items: list[dict[str, Any]] = []
    while (message := hear(socket))["type"] != "caught_up":
        items += message.get("items", [])
    return items, message["after"]


# covers P-07
def test_a_crawl_is_followed_from_its_submission_to_its_end(
    tenant: Tenant, website: Website, connected: Connect
) -> None:
    website.hold()
    job_id = tenant.crawl(f"{website.url}/held?text=followed")
    socket = connected(key=tenant.key)
    say(socket, "subscribe", job_id)
    assert website.arrived.wait(SECONDS)
    website.release()
    items = hear_until(socket, "completed")
    told = {item["id"]: item for item in items}
    timeline = tenant("GET", f"{JOBS}/{job_id}/timeline?limit=100").json()["items"]
    assert [told[each["id"]] for each in timeline] == timeline


def test_a_ticket_opens_the_stream_of_its_job_and_nothing_else(
    tenant: Tenant, website: Website, connected: Connect, deployed: Deployed
) -> None:
    mine, other = (tenant.crawl(f"{website.url}/page?text=ticket+{n}") for n in range(2))
    answer = tenant("POST", f"{JOBS}/{mine}/tickets")
    assert answer.status_code == 201, answer.text
    socket = connected(ticket=answer.json()["ticket"])
    say(socket, "subscribe", other)
    assert hear(socket)["code"] == "NOT_FOUND"
    say(socket, "subscribe", mine)
    items, _ = _caught_up(socket)
    assert min(items, key=itemgetter("id"))["message"] == "pending"


def test_what_was_missed_while_away_is_told_on_coming_back(
    tenant: Tenant, website: Website, connected: Connect
) -> None:
    website.hold()
    job_id = tenant.crawl(f"{website.url}/held?text=away")
    assert website.arrived.wait(SECONDS)
    socket = connected(key=tenant.key)
    say(socket, "subscribe", job_id)
    first, after = _caught_up(socket)
    socket.close()
    website.release()
    tenant.finished(job_id)
    again = connected(key=tenant.key)
    say(again, "subscribe", job_id, after=after)
    later, _ = _caught_up(again)
    assert after < min(item["id"] for item in later)
    told = {item["id"]: item for item in (*first, *later)}
    timeline = tenant("GET", f"{JOBS}/{job_id}/timeline?limit=100").json()["items"]
    assert [told[each["id"]] for each in timeline] == timeline
    assert timeline[-1] in later


def test_after_unsubscribing_a_job_is_no_longer_watched(
    tenant: Tenant, website: Website, connected: Connect, deployed: Deployed
) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=quiet")
    socket = connected(key=tenant.key)
    say(socket, "subscribe", job_id)
    say(socket, "unsubscribe", job_id)
    types: list[str] = []
    while "unsubscribed" not in types:
        types.append(hear(socket)["type"])
    assert types[0] == "subscribed"
    say(socket, "sing", job_id)
    assert (message := hear(socket))["type"] == "error", message


def test_a_foreign_job_is_as_unknown_as_any(
    tenant: Tenant, website: Website, connected: Connect, deployed: Deployed
) -> None:
    job_id = tenant.crawl(f"{website.url}/page?text=private")
    stranger = deployed.tenant()
    try:
        socket = connected(key=stranger.key)
        answers = []
        for each in (job_id, "job_unknown"):
            say(socket, "subscribe", each)
            answers.append(hear(socket))
        assert answers[0] == answers[1]
        assert answers[0]["code"] == "NOT_FOUND"
    finally:
        stranger.close()


def test_the_revocation_of_a_key_ends_its_sockets_and_no_others(
    website: Website, connected: Connect, deployed: Deployed
) -> None:
    owner = deployed.tenant(scope="admin")
    try:
        answer = owner("POST", KEYS, {"name": "browser", "scopes": ["read"]})
        assert answer.status_code == 201, answer.text
        issued = answer.json()
        website.hold()
        job_id = owner.crawl(f"{website.url}/held?text=revoked")
        assert website.arrived.wait(SECONDS)
        revoked, other = connected(key=issued["secret"]), connected(key=owner.key)
        for socket in (revoked, other):
            say(socket, "subscribe", job_id)
            _caught_up(socket)
        assert owner("DELETE", f"{KEYS}/{issued['key_id']}").status_code == 204
        with pytest.raises(ConnectionClosed):
            revoked.recv(timeout=SECONDS)
        website.release()
        assert hear_until(other, "completed")
    finally:
        owner.close()


@pytest.mark.parametrize("given", [{}, {"key": "spn_wrong"}, {"ticket": "spt_wrong"}])
def test_without_a_valid_credential_no_connection_is_made(
    connected: Connect, given: dict[str, str]
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connected(**given)
    assert refused.value.response.status_code == 401
