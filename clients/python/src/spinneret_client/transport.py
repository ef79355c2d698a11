"""Requests with retries, time-outs and typed errors; one transport blocks, one awaits."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import math
import platform
import random
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import version
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import TypeAdapter, ValidationError

from spinneret_client import errors
from spinneret_client.retries import RETRIES, RetryPolicy, retry_after

TIMEOUT: Final = 30.0
CONNECT_TIMEOUT: Final = 5.0
SHORTEST_TIMEOUT: Final = 0.1
EXCERPT_CHARS: Final = 200
IDEMPOTENCY_KEY: Final = "Idempotency-Key"
Http = TypeVar("Http")
_REPEATABLE: Final = frozenset({"GET", "HEAD", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True)
class Call:
    """A request; all its attempts send the same bytes and key."""

    method: str
    path: str
    query: Mapping[str, Any] | None = None
    content: bytes | None = None
    key: str | None = None
    replays: bool = False
    """Whether a repetition has no further effect, because of the key or because it only reads."""

    @property
    def repeatable(self) -> bool:
        """Whether a lost response allows another attempt."""
        return self.replays or self.method in _REPEATABLE


@dataclass(frozen=True)
class Settings:
    """Settings of all requests of a client; the `repr` omits credentials."""

    url: str
    credential: Callable[[], str | None] = field(repr=False)
    timeout: float = TIMEOUT
    retries: int = RETRIES
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    until: float = math.inf
    """Time of the monotonic clock until which requests may wait."""

    @property
    def patience(self) -> float:
        """Seconds that a request may wait."""
        return max(SHORTEST_TIMEOUT, min(self.timeout, self.until - time.monotonic()))

    def arguments(self, call: Call) -> dict[str, Any]:
        """Return the arguments of httpx for an attempt."""
        headers = {"Accept": "application/json", "User-Agent": user_agent(), **self.headers}
        if (credential := self.credential()) is not None:
            headers["Authorization"] = f"Bearer {credential}"
        if call.content is not None:
            headers["Content-Type"] = "application/json"
        if call.key is not None:
            headers[IDEMPOTENCY_KEY] = call.key
        query = {name.rstrip("_"): value for name, value in (call.query or {}).items()}
        return {
            "method": call.method,
            "url": self.url + call.path,
            "params": {name: _text(value) for name, value in query.items() if value is not None},
            "content": call.content,
            "headers": headers,
            "timeout": httpx.Timeout(self.patience, connect=min(CONNECT_TIMEOUT, self.patience)),
        }

    def policy(self) -> RetryPolicy:
        """Return the rules of retries."""
        return RetryPolicy(self.retries, random.random, lambda: datetime.now(timezone.utc))


class Transport:
    """Transport that sends calls and blocks until their responses."""

    def __init__(self, settings: Settings, http: httpx.Client | None = None) -> None:
        self.settings = settings
        self.http = http or _connections(httpx.Client, settings.url)
        self.sleep: Callable[[float], None] = time.sleep
        self.clock = time.monotonic

    def send(self, call: Call) -> httpx.Response:
        """Send the call, and return the successful response. Raises ApiError, ConnectionFailed."""
        policy, attempt = self.settings.policy(), 1
        while True:
            outcome: httpx.Response | httpx.RequestError
            arguments = self.settings.arguments(call)
            try:
                outcome = self.http.request(**arguments)
            except httpx.RequestError as error:
                outcome = error
            pause = policy.pause(outcome, attempt, repeatable=call.repeatable)
            if pause is None:
                return finished(outcome, call, attempt)
            self.sleep(pause)
            attempt += 1

    def with_settings(self, **changes: Any) -> Transport:
        """Return a transport with other settings on the same connections."""
        changed = Transport(replace(self.settings, **changes), self.http)
        changed.sleep, changed.clock = self.sleep, self.clock
        return changed


class AsyncTransport:
    """Transport that sends calls and awaits their responses."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient | None = None) -> None:
        self.settings = settings
        self.http = http or _connections(httpx.AsyncClient, settings.url)
        self.sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
        self.clock = time.monotonic

    async def send(self, call: Call) -> httpx.Response:
        """Send the call, and return the successful response. Raises ApiError, ConnectionFailed."""
        policy, attempt = self.settings.policy(), 1
        while True:
            outcome: httpx.Response | httpx.RequestError
            # A thread is needed, because a session's credential may wait for a refresh.
            arguments = await asyncio.to_thread(self.settings.arguments, call)
            try:
                outcome = await self.http.request(**arguments)
            except httpx.RequestError as error:
                outcome = error
            pause = policy.pause(outcome, attempt, repeatable=call.repeatable)
            if pause is None:
                return finished(outcome, call, attempt)
            await self.sleep(pause)
            attempt += 1

    def with_settings(self, **changes: Any) -> AsyncTransport:
        """Return a transport with other settings on the same connections."""
        changed = AsyncTransport(replace(self.settings, **changes), self.http)
        changed.sleep, changed.clock = self.sleep, self.clock
        return changed


def new_call(
    method: str,
    path: str,
    *,
    query: Mapping[str, Any] | None = None,
    body: Mapping[str, Any] | None = None,
    key: str | None = None,
    replays: bool = False,
    reads: bool = False,
) -> Call:
    """Return a call; a POST that the server `replays` gets a key unless the caller gives one."""
    content = None if body is None else json.dumps(body, default=_text).encode()
    if replays and key is None:
        key = str(uuid.uuid4())
    return Call(method, path, query, content, key, replays or reads)


def finished(
    outcome: httpx.Response | httpx.RequestError, call: Call, attempt: int
) -> httpx.Response:
    """Return a successful response. Raises the error of any other outcome."""
    if isinstance(outcome, httpx.RequestError):
        place = f"{call.method} {outcome.request.url.copy_with(query=None)}"
        if isinstance(outcome, httpx.TimeoutException):
            raise errors.RequestTimeout(
                f"{place}: no response in time", attempts=attempt
            ) from outcome
        raise errors.ConnectionFailed(f"{place}: {outcome}", attempts=attempt) from outcome
    if outcome.status_code == 404 and call.method == "DELETE" and attempt > 1:
        return outcome  # an earlier attempt deleted it, and its response was lost
    if outcome.status_code >= 400:
        raise error_of(outcome, attempt)
    return outcome


def error_of(response: httpx.Response, attempt: int) -> errors.ApiError:
    """Return the error of a response; a proxy's response may have another form."""
    try:
        body = response.json()
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    code = str(body.get("code") or f"HTTP_{response.status_code}")
    message = body.get("error") or body.get("message") or response.text[:EXCERPT_CHARS]
    details = body.get("details")
    return errors.error_class(response.status_code, code)(
        str(message or response.reason_phrase),
        status=response.status_code,
        code=code,
        details=details if isinstance(details, dict) else {},
        request_id=body.get("request_id") or response.headers.get("x-request-id"),
        attempts=attempt,
        retry_after=retry_after(response, datetime.now(timezone.utc)),
    )


def parsed(reply: Any, response: httpx.Response) -> Any:
    """Return the response as `reply`, a model or a union of models. Raises UnexpectedResponse."""
    if 300 <= response.status_code < 400:
        raise errors.UnexpectedResponse(
            f"{response.request.method} {response.request.url.path} leads to another address:"
            f" {response.headers.get('location')}"
        )
    if reply is None or response.status_code in (204, 404):
        return None
    try:
        return _adapter(reply).validate_json(response.content)
    except ValidationError as error:
        raise errors.UnexpectedResponse(
            f"{response.request.method} {response.request.url.path} returned another form than"
            f" the API document describes: {error.error_count()} fields differ"
        ) from error


def _connections(make: Callable[..., Http], url: str) -> Http:
    """Return a client of httpx. Raises ConfigurationError for an invalid proxy."""
    try:
        return make(trust_env=not is_loopback(url))
    except (ImportError, ValueError) as error:
        raise errors.ConfigurationError(
            f"the proxy of the environment can't be used: {error}"
        ) from error


@cache
def _adapter(reply: Any) -> TypeAdapter[Any]:
    return TypeAdapter(reply)


def user_agent() -> str:
    """Return the name and version of this package, and the version of Python."""
    return f"spinneret-python/{version('spinneret')} python/{platform.python_version()}"


def is_loopback(url: str) -> bool:
    """Return whether a URL is on this machine; the environment's proxy couldn't reach it."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _text(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
