"""The WebSocket gateway's pure functions: its events, and the meaning of their responses."""

import importlib
import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SOURCES = Path(__file__).parents[3] / "infra" / "local" / "websocket"
OPENED = datetime(2024, 2, 9, 18, 11, 43, 419_000, tzinfo=UTC)


def _module(name: str) -> ModuleType:
    """Import a module of the gateway, which has its own environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SOURCES))
        return importlib.import_module(f"spinneret_websocket.{name}")


events, errors, handshake = (_module(name) for name in ("events", "errors", "handshake"))


def _source(**changes: Any) -> Any:
    """Return a source of events; each use advances its clock by 1 s and increments its ids."""
    peer = {
        "connection_id": "connection",
        "connected_at": OPENED,
        "api_id": "api",
        "stage": "local",
        "domain_name": "127.0.0.1:8086",
        "source_ip": "127.0.0.2",
        "user_agent": "probe/1",
    }
    seconds, ids = itertools.count(1), itertools.count(1)
    return events.EventSource(
        events.Peer(**{**peer, **changes}),
        lambda: OPENED + timedelta(seconds=next(seconds)),
        lambda: f"id-{next(ids)}",
    )


def _context(route: str, kind: str, **extra: Any) -> dict[str, Any]:
    return {
        "routeKey": route,
        "eventType": kind,
        "extendedRequestId": "id-1",
        "requestTime": "09/Feb/2024:18:11:44 +0000",
        "messageDirection": "IN",
        "stage": "local",
        "connectedAt": 1707502303419,
        "requestTimeEpoch": 1707502304419,
        "identity": {"userAgent": "probe/1", "sourceIp": "127.0.0.2"},
        "requestId": "id-1",
        "domainName": "127.0.0.1:8086",
        "connectionId": "connection",
        "apiId": "api",
        **extra,
    }


def test_a_connect_event_without_query_has_no_key_of_one() -> None:
    event = _source().connect([("host", "127.0.0.1:8086")], "")
    headers = {
        "Host": "127.0.0.1:8086",
        "X-Forwarded-For": "127.0.0.2",
        "X-Forwarded-Port": "8086",
        "X-Forwarded-Proto": "http",
    }
    assert event == {
        "headers": headers,
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "requestContext": _context("$connect", "CONNECT"),
        "isBase64Encoded": False,
    }


def test_a_message_event_has_a_message_id_and_no_headers() -> None:
    assert _source().message("{}") == {
        "requestContext": _context(
            "$default",
            "MESSAGE",
            messageId="id-1",
            extendedRequestId="id-2",
            requestId="id-2",
        ),
        "isBase64Encoded": False,
        "body": "{}",
    }


@pytest.mark.parametrize(
    ("code", "reason", "told"),
    [
        (1000, "done", "done"),
        (1006, "", ""),
        (1005, "", "Client-side close frame status not set"),
    ],
)
def test_a_disconnect_event_tells_the_close_status(code: int, reason: str, told: str) -> None:
    event = _source().disconnect(code, reason)
    assert event["requestContext"] == _context(
        "$disconnect", "DISCONNECT", disconnectStatusCode=code, disconnectReason=told
    )
    assert event["headers"].keys() == {"Host", "x-api-key", "X-Forwarded-For", "x-restapi"}


def test_a_client_that_names_no_agent_has_none() -> None:
    event = _source(user_agent=None).message("")
    assert event["requestContext"]["identity"] == {"sourceIp": "127.0.0.2"}


@pytest.mark.parametrize(
    ("query", "last", "every"),
    [
        ("a=1", {"a": "1"}, {"a": ["1"]}),
        ("a=1&b=&a=2", {"a": "2", "b": ""}, {"a": ["1", "2"], "b": [""]}),
        ("a=%C3%BC+b&c", {"a": "ü b", "c": ""}, {"a": ["ü b"], "c": [""]}),
    ],
)
def test_query_values_are_decoded_and_the_last_of_a_name_wins(
    query: str, last: dict[str, str], every: dict[str, list[str]]
) -> None:
    event = _source().connect([], query)
    assert event["queryStringParameters"] == last
    assert event["multiValueQueryStringParameters"] == every


def test_headers_have_their_usual_names_and_hop_by_hop_ones_are_left_out() -> None:
    received = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-key", "key"),
        ("cookie", "a=1"),
        ("cookie", "b=2"),
        ("x-forwarded-for", "203.0.113.7"),
    ]
    event = _source().connect(received, "")
    assert event["multiValueHeaders"] == {
        "Sec-WebSocket-Key": ["key"],
        "Cookie": ["a=1", "b=2"],
        "X-Forwarded-For": ["203.0.113.7, 127.0.0.2"],
        "X-Forwarded-Port": ["8086"],
        "X-Forwarded-Proto": ["http"],
    }
    assert event["headers"]["Cookie"] == "b=2"


def test_ids_are_of_awss_form_and_differ() -> None:
    ids = {events.new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert {(len(each), each[-1]) for each in ids} == {(16, "=")}


@given(st.integers(200, 299), st.none() | st.text(min_size=1))
def test_a_2xx_answer_accepts_with_the_subprotocol_it_names(status: int, name: str | None) -> None:
    headers = None if name is None else {"SEC-websocket-protocol": name}
    answer = handshake.read_answer({"statusCode": status, "headers": headers})
    assert answer == handshake.Accepted(subprotocol=name)


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        (302, "Found"),
        (400, "Bad Request"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (429, "Too Many Requests"),
        (499, "Refused"),
        (500, "Internal Server Error"),
        (503, "Service Unavailable"),
    ],
)
def test_any_other_status_refuses(status: int, phrase: str) -> None:
    answer = handshake.read_answer({"statusCode": status})
    assert (answer.status, answer.phrase) == (status, phrase)


def _malformed() -> Iterator[Any]:
    yield from (None, "200", 200, [], {}, {"status": 200})
    yield from ({"statusCode": status} for status in (None, "200", True, 200.0, 0, 199, 600))


@pytest.mark.parametrize("answer", list(_malformed()), ids=repr)
def test_an_answer_without_a_status_code_is_a_failure_of_the_function(answer: Any) -> None:
    with pytest.raises(errors.FunctionFailed) as failed:
        handshake.read_answer(answer)
    assert failed.value.status == 502
