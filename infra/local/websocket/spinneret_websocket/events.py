"""Events that API Gateway sends to a function behind a WebSocket API.

Their format: "Set up a WebSocket API integration request", API Gateway Developer Guide.
"""

import base64
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl

Event = dict[str, Any]
Clock = Callable[[], datetime]
NewId = Callable[[], str]

NO_CLOSE_STATUS: Final = 1005  # RFC 6455, section 7.1.5: a close frame without a status code
_NO_CLOSE_STATUS_REASON = "Client-side close frame status not set"
_HOP_BY_HOP: Final = frozenset({"connection", "upgrade"})


def new_id() -> str:
    """Return an id in AWS's format: 16 characters that end with ``=``, which URLs must escape."""
    return base64.urlsafe_b64encode(secrets.token_bytes(11)).decode()


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Both ends of a connection, as in each of its events."""

    connection_id: str
    connected_at: datetime
    api_id: str
    stage: str
    domain_name: str
    source_ip: str
    user_agent: str | None

    @property
    def identity(self) -> dict[str, str]:
        """Identity in events; ``userAgent`` is absent if the client sent none."""
        agent = {} if self.user_agent is None else {"userAgent": self.user_agent}
        return {**agent, "sourceIp": self.source_ip}


class EventSource:
    """Builds the events of one connection; each has its own request id."""

    def __init__(self, peer: Peer, clock: Clock, new_id: NewId) -> None:
        self._peer = peer
        self._clock = clock
        self._new_id = new_id

    def connect(self, headers: Iterable[tuple[str, str]], query: str) -> Event:
        """Build the ``$connect`` event.

        ``headers`` are as received, ``query`` is undecoded and has no question mark.
        """
        values = _forwarded(headers, self._peer)
        return {
            **_named("headers", "multiValueHeaders", values),
            **_named("queryStringParameters", "multiValueQueryStringParameters", _parsed(query)),
            **self._event("$connect", "CONNECT", {}),
        }

    def message(self, body: str) -> Event:
        return {**self._event("$default", "MESSAGE", {"messageId": self._new_id()}), "body": body}

    def disconnect(self, code: int, reason: str) -> Event:
        """Build the ``$disconnect`` event; ``code`` and ``reason`` come from the close frame."""
        if code == NO_CLOSE_STATUS and not reason:
            reason = _NO_CLOSE_STATUS_REASON
        host = self._peer.domain_name
        values = {"Host": [host], "x-api-key": [""], "X-Forwarded-For": [""], "x-restapi": [""]}
        closing = {"disconnectStatusCode": code, "disconnectReason": reason}
        return {
            **_named("headers", "multiValueHeaders", values),
            **self._event("$disconnect", "DISCONNECT", closing),
        }

    def _event(self, route: str, kind: str, extra: Mapping[str, Any]) -> Event:
        peer, now, request_id = self._peer, self._clock(), self._new_id()
        context = {
            "routeKey": route,
            **extra,
            "eventType": kind,
            "extendedRequestId": request_id,
            "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S %z"),
            "messageDirection": "IN",
            "stage": peer.stage,
            "connectedAt": _milliseconds(peer.connected_at),
            "requestTimeEpoch": _milliseconds(now),
            "identity": peer.identity,
            "requestId": request_id,
            "domainName": peer.domain_name,
            "connectionId": peer.connection_id,
            "apiId": peer.api_id,
        }
        return {"requestContext": context, "isBase64Encoded": False}


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _named(single: str, multiple: str, values: Mapping[str, list[str]]) -> Event:
    """Return the last value and all values by name; return {} without values."""
    if not values:
        return {}
    return {single: {name: each[-1] for name, each in values.items()}, multiple: dict(values)}


def _parsed(query: str) -> dict[str, list[str]]:
    values: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in parse_qsl(query, keep_blank_values=True):
        values[name].append(value)
    return dict(values)


def _forwarded(headers: Iterable[tuple[str, str]], peer: Peer) -> dict[str, list[str]]:
    """Return the client's headers and a proxy's additional ones."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in headers:
        if name.lower() not in _HOP_BY_HOP:
            values[_header_name(name)].append(value)
    _, _, port = peer.domain_name.partition(":")
    values["X-Forwarded-For"] = [", ".join([*values["X-Forwarded-For"], peer.source_ip])]
    values["X-Forwarded-Port"] = [port or "80"]
    values["X-Forwarded-Proto"] = ["http"]
    return dict(values)


def _header_name(name: str) -> str:
    """Return the usual spelling of a header name; the server passes names in lower case."""
    words = (word.capitalize() for word in name.split("-"))
    return "-".join("WebSocket" if word == "Websocket" else word for word in words)
