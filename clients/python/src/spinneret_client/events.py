"""Events of a job as they happen, from server-sent events or from polls of its timeline.

A stream continues after the last complete event (HTML standard, section 9.2); status 204 ends it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
from pydantic import ValidationError

from spinneret_client.errors import ApiError, UnexpectedResponse
from spinneret_client.generated.models import EventView
from spinneret_client.model import Listed, Model
from spinneret_client.paging import AsyncPages, Pages
from spinneret_client.transport import (
    AsyncTransport,
    Call,
    Transport,
    error_of,
    new_call,
    parsed,
)

FINAL: Final = frozenset({"completed", "partially_failed", "failed", "cancelled", "expired"})
"""States of a job that has ended; a retry begins another run."""
LONG_POLL_TIMEOUT: Final = 40.0  # seconds; the server answers within 25
POLL_PAUSE: Final = 2.0
FAILURES: Final = 3
"""Number of consecutive failed connections after which the timeline is polled."""
_LINE_END: Final = re.compile(r"\r\n|\n|\r")  # `str.splitlines` splits at more characters
_NO_STREAM: Final = frozenset({405, 406, 415, 501})


@dataclass
class EventReader:
    """Parser of server-sent events, and the position after the last complete one."""

    last_id: str | None = None
    pause: float = 1.0
    """Seconds before a new connection, as requested by the server."""
    failures: int = 0
    _id: str | None = None
    _data: list[str] = field(default_factory=list)
    _rest: str = ""
    _after_return: bool = False
    """Whether a line feed at the start of the next piece belongs to the end of the last line."""

    def begin(self) -> None:
        """Drop the incomplete event of a broken connection."""
        self._id, self._data, self._rest, self._after_return = None, [], "", False

    def read(self, text: str) -> Iterator[EventView]:
        """Yield the events that a piece of the stream completes."""
        if self._after_return:
            text = text.removeprefix("\n")
        self._after_return = text.endswith("\r")
        *lines, self._rest = _LINE_END.split(self._rest + text)
        for line in lines:
            if (event := self._line(line)) is not None:
                yield event

    def _line(self, line: str) -> EventView | None:
        """Return the event that an empty line completes, else None, as for a repeated event."""
        if line:
            self._field(*line.partition(":")[::2])
            return None
        data, event_id = "\n".join(self._data), self._id
        self._id, self._data = None, []
        if not data or (event_id is not None and event_id == self.last_id):
            return None
        self.last_id = event_id or self.last_id
        self.failures = 0
        try:
            return EventView.model_validate_json(data)
        except ValidationError as error:
            raise UnexpectedResponse("the stream has an event of another form") from error

    def _field(self, name: str, value: str) -> None:
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        elif name == "retry" and value.isdecimal():
            self.pause = int(value) / 1000

    def call(self, path: str) -> Call:
        """Return the request for the events after the last one."""
        return new_call("GET", f"{path}/stream")

    def arguments(self, transport: Transport | AsyncTransport, path: str) -> dict[str, Any]:
        """Return the arguments of httpx for the next connection."""
        self.begin()
        arguments = transport.settings.arguments(self.call(path))
        arguments["headers"]["Accept"] = "text/event-stream"
        if self.last_id is not None:
            arguments["headers"]["Last-Event-ID"] = self.last_id
        arguments["timeout"] = httpx.Timeout(LONG_POLL_TIMEOUT, connect=5.0)
        return arguments

    def refuse(self, response: httpx.Response) -> None:
        """Count a response that isn't a stream. Raises ApiError for a permanent error."""
        if response.status_code < 400 or response.status_code in _NO_STREAM:
            self.failures, self.pause = FAILURES, 0.0
            return
        error = error_of(response, 1)
        if error.status != 429 and error.status < 500:
            raise error
        self.fail(error)

    def fail(self, error: ApiError | httpx.RequestError) -> None:
        """Count a failed connection; the pause grows with each consecutive failure."""
        self.failures += 1
        asked = error.retry_after if isinstance(error, ApiError) else None
        self.pause = min(60.0, asked or 0.5 * 2.0**self.failures)


class _JobState(Model):
    """Common field of jobs and audits."""

    status: str


def is_stream(response: httpx.Response) -> bool:
    """Return whether a response is a stream of events."""
    kind = response.headers.get("content-type", "")
    return response.status_code == 200 and kind.startswith("text/event-stream")


def stream(
    transport: Transport, path: str, last_event_id: str | None = None
) -> Iterator[EventView]:
    """Yield the events of the job at `path` after `last_event_id`, each once, until it has ended.

    Raises ApiError, and ConnectionFailed if polling fails as well.
    """
    reader = EventReader(last_event_id)
    while reader.failures < FAILURES:
        try:
            with transport.http.stream(**reader.arguments(transport, path)) as response:
                if response.status_code == 204:
                    return
                if is_stream(response):
                    for text in response.iter_text():
                        yield from reader.read(text)
                    reader.failures = 0
                else:
                    response.read()
                    reader.refuse(response)
        except httpx.RequestError as error:
            reader.fail(error)
        transport.sleep(reader.pause)
    yield from _polled(transport, path, reader)


def _polled(transport: Transport, path: str, reader: EventReader) -> Iterator[EventView]:
    while True:
        job: _JobState = parsed(_JobState, transport.send(new_call("GET", path)))
        timeline: Pages[EventView] = Pages(
            lambda cursor: parsed(Listed[EventView], transport.send(_page(path, cursor))), None
        )
        yield from _unseen(list(timeline), reader)
        if job.status in FINAL:
            return
        transport.sleep(POLL_PAUSE)


def _page(path: str, cursor: str | None) -> Call:
    return new_call("GET", f"{path}/timeline", query={"cursor": cursor})


async def stream_async(
    transport: AsyncTransport, path: str, last_event_id: str | None = None
) -> AsyncIterator[EventView]:
    """Yield the events as `stream` does."""
    reader = EventReader(last_event_id)
    while reader.failures < FAILURES:
        try:
            # A thread is needed, because a session's credential may wait for a refresh.
            arguments = await asyncio.to_thread(reader.arguments, transport, path)
            async with transport.http.stream(**arguments) as response:
                if response.status_code == 204:
                    return
                if is_stream(response):
                    async for text in response.aiter_text():
                        for event in reader.read(text):
                            yield event
                    reader.failures = 0
                else:
                    await response.aread()
                    reader.refuse(response)
        except httpx.RequestError as error:
            reader.fail(error)
        await transport.sleep(reader.pause)
    async for event in _polled_async(transport, path, reader):
        yield event


async def _polled_async(
    transport: AsyncTransport, path: str, reader: EventReader
) -> AsyncIterator[EventView]:
    async def fetch(cursor: str | None) -> Listed[EventView]:
        page: Listed[EventView] = parsed(
            Listed[EventView], await transport.send(_page(path, cursor))
        )
        return page

    while True:
        job: _JobState = parsed(_JobState, await transport.send(new_call("GET", path)))
        timeline: AsyncPages[EventView] = AsyncPages(fetch, None)
        for event in _unseen([event async for event in timeline], reader):
            yield event
        if job.status in FINAL:
            return
        await transport.sleep(POLL_PAUSE)


def _unseen(found: list[EventView], reader: EventReader) -> list[EventView]:
    """Return the events after the last yielded one; the ids of a job's events only grow."""
    ids = [event.id for event in found]
    start = ids.index(reader.last_id) + 1 if reader.last_id in ids else 0
    if found:
        reader.last_id = ids[-1]
    return found[start:]
