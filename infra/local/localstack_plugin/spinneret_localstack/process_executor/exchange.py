"""Requests and replies between a runtime process and its executor, one invocation at a time."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class ReplyKind(StrEnum):
    """Kind of a reply; the values are the last part of the Runtime API's paths."""

    RESPONSE = "response"
    ERROR = "error"


@dataclass(frozen=True)
class Request:
    request_id: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    kind: ReplyKind
    body: bytes


class Exchange:
    """Thread-safe exchange.

    `close` is called once, when the process has ended, and wakes all waits.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ready = False
        self._closed = False
        self._waiting: Request | None = None  # not fetched yet
        self._current: str | None = None
        self._reply: Reply | None = None
        self._init_error: bytes | None = None

    # The runtime's side

    def next_request(self) -> Request | None:
        """Wait for the next request; return None once closed."""
        with self._changed:
            self._ready = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            request, self._waiting = self._waiting, None
            return request

    def put_reply(self, request_id: str, reply: Reply) -> bool:
        """Store the reply; return False if the request isn't current or already has its reply."""
        with self._changed:
            if request_id != self._current or self._reply is not None:
                return False
            self._reply = reply
            self._changed.notify_all()
            return True

    def put_init_error(self, body: bytes) -> None:
        with self._changed:
            self._init_error = body
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    # The executor's side

    def wait_until_ready(self, timeout: float) -> bool:
        """Return whether the runtime requested its first event within `timeout` seconds.

        The call returns early when the init has failed or the process has ended.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._ready or self._closed or self._init_error is not None, timeout
            )
            return self._ready and not self._closed

    @property
    def init_error(self) -> bytes | None:
        return self._init_error

    def call(self, request: Request, timeout: float) -> Reply | None:
        """Send a request and return its reply; None after a time-out or if the process ended.

        `timeout` is in seconds.
        """
        with self._changed:
            self._current, self._waiting, self._reply = request.request_id, request, None
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._reply or self._closed, timeout)
            self._current = None
            return self._reply
