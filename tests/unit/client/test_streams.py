"""Streams of events, and waits for jobs."""

# covers L-01
import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import httpx
import pytest

import spinneret_client as sp
from tests.unit.client.conftest import Server, event, refusal, sse, stream

EVENTS = [event(number) for number in range(8)]
IDS = [each["id"] for each in EVENTS]
END = httpx.Response(204)
JOB = {
    "job_id": "job_1", "kind": "crawl", "status": "completed", "priority": "normal",
    "domain": None, "subject": None, "batch": None, "run": 1, "attempts": 0, "max_attempts": 3,
    "redrives": 0, "progress": 100, "step": None, "created_at": "", "updated_at": "", "due_at": "",
    "created_by": None, "waiting_for": None, "expires_at": None, "started_at": None,
    "finished_at": None,
    "duration_ms": None, "result": None, "result_expires_at": None, "status_code": None,
    "content_type": None, "error": None, "error_summary": None, "error_type": None,
    "parent": None, "children": None,
}  # fmt: skip


class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body whose connection breaks after its last byte."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode()

    def __iter__(self) -> Iterator[bytes]:
        for begin in range(0, len(self._bytes), 7):
            yield self._bytes[begin : begin + 7]
        raise httpx.ReadError("connection reset")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self:
            yield chunk


class Log:
    """Server of an event stream that breaks connections at given bytes and heeds Last-Event-ID."""

    def __init__(self, breaks: list[int]) -> None:
        self.breaks = breaks
        self.asked: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        last = request.headers.get("Last-Event-ID")
        self.asked.append(last)
        rest = EVENTS[IDS.index(last) + 1 :] if last else EVENTS
        if not rest:
            return END
        if not self.breaks:
            return stream(sse(rest))
        text = sse(rest)[: self.breaks.pop(0)]
        kind = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=kind, stream=Broken(text))


BREAKS = [[400, 300, 500], [170, 171, 172], [360, 1, 600]]


@pytest.mark.parametrize("breaks", BREAKS)
def test_three_interruptions_lose_and_repeat_no_event(server: Server, breaks: list[int]) -> None:
    server.route = log = Log(list(breaks))
    found = [each.id for each in server.client().jobs.stream("job_1")]
    assert found == IDS
    assert log.breaks == []
    assert log.asked[-1] == IDS[-1]


@pytest.mark.parametrize("breaks", BREAKS)
def test_the_async_stream_survives_them_too(server: Server, breaks: list[int]) -> None:
    async def scenario() -> list[str]:
        return [each.id async for each in server.async_client().jobs.stream("job_1")]

    server.route = Log(list(breaks))
    assert asyncio.run(scenario()) == IDS


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_only_the_line_ends_of_the_standard_end_a_line(
    server: Server, end: str, asynchronous: bool
) -> None:
    async def scenario() -> list[str]:
        return [each.message async for each in server.async_client().jobs.stream("job_1")]

    odd = "a\u2028b\x85c\x0cd"
    sent = json.dumps({**EVENTS[0], "message": odd}, ensure_ascii=False)
    text = f"id: {IDS[0]}\ndata: {sent}\n\n".replace("\n", end)
    server.script = [stream(text), END]
    if asynchronous:
        found = asyncio.run(scenario())
    else:
        found = [each.message for each in server.client().jobs.stream("job_1")]
    assert found == [odd]


def test_a_refresh_before_an_async_stream_holds_up_no_other_task(server: Server) -> None:
    async def scenario() -> None:
        client = server.async_client()
        asked: list[bool] = []

        def credential() -> str:
            asked.append(threading.current_thread() is threading.main_thread())
            return "access-1"

        client.transport.settings = replace(client.transport.settings, credential=credential)
        assert [each async for each in client.jobs.stream("job_1")] == []
        assert asked == [False]

    server.script = [END]
    asyncio.run(scenario())


class Polled:
    """A server without streams, whose job ends at the third status request."""

    def __init__(self, refuse: httpx.Response | Exception) -> None:
        self.refuse = refuse
        self.looks = 0

    def __call__(self, request: httpx.Request) -> httpx.Response | Exception:
        if request.url.path.endswith("/stream"):
            return self.refuse
        if request.url.path.endswith("/timeline"):
            start = int(request.url.params.get("cursor", "0"))
            known = EVENTS[: self.looks * 3]
            more = start + 2 < len(known)
            page = {"items": known[start : start + 2], "has_more": more}
            return httpx.Response(
                200, json={**page, "next_cursor": str(start + 2) if more else None}
            )
        self.looks += 1
        status = "completed" if self.looks == 3 else "running"
        return httpx.Response(200, json={**JOB, "status": status})


NO_STREAM = [
    refusal(405, "METHOD_NOT_ALLOWED"),
    refusal(503, "DEPENDENCY_UNAVAILABLE"),
    httpx.ReadError("reset"),
    httpx.DecodingError("no gzip"),
    httpx.Response(200, json={}),
]


@pytest.mark.parametrize("refuse", NO_STREAM, ids=["405", "503", "broken", "garbled", "no stream"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_without_a_stream_the_timeline_is_polled(
    server: Server, refuse: httpx.Response | Exception, asynchronous: bool
) -> None:
    async def scenario() -> list[str]:
        return [each.id async for each in server.async_client().jobs.stream("job_1")]

    server.route = Polled(refuse)
    if asynchronous:
        found = asyncio.run(scenario())
    else:
        found = [each.id for each in server.client().jobs.stream("job_1")]
    assert found == IDS


LOGIN_PAGE = httpx.Response(200, text="<html>sign in to the network</html>")


@pytest.mark.parametrize(
    "replies",
    [
        [stream("data: {broken\n\n")],
        [stream("data: {}\n\n")],
        [refusal(405, "METHOD_NOT_ALLOWED"), LOGIN_PAGE],
        [refusal(405, "METHOD_NOT_ALLOWED"), httpx.Response(200, json={})],
        [refusal(405, "METHOD_NOT_ALLOWED"), httpx.Response(302, headers={"location": "/"})],
    ],
    ids=["no JSON", "no event", "no job", "no state", "elsewhere"],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_of_another_form_raises(
    server: Server, replies: list[httpx.Response], asynchronous: bool
) -> None:
    async def scenario() -> None:
        await anext(server.async_client().jobs.stream("job_1"))

    server.script = [*replies]
    with pytest.raises(sp.UnexpectedResponse):
        asyncio.run(scenario()) if asynchronous else next(server.client().jobs.stream("job_1"))


def test_a_stream_of_an_unknown_job_raises(server: Server) -> None:
    server.script = [refusal(404, "NOT_FOUND")]
    with pytest.raises(sp.NotFound):
        next(server.client().jobs.stream("job_x"))


def test_a_wait_polls_until_the_job_ended(server: Server) -> None:
    states = iter(["pending", "running", "failed"])
    server.route = lambda request: httpx.Response(200, json={**JOB, "status": next(states)})
    assert server.client().jobs.wait("job_1", timeout=60).status == "failed"
    assert server.slept == [0.25, 0.5]


def test_a_wait_ends_with_the_jobs_id_and_cancels_nothing(server: Server) -> None:
    server.route = lambda request: httpx.Response(200, json={**JOB, "status": "running"})
    client = server.client()
    now = [0.0]
    client.transport.clock = lambda: now[0]
    client.transport.sleep = lambda seconds: now.__setitem__(0, now[0] + seconds)
    with pytest.raises(sp.WaitTimeout, match="job_1") as caught:
        client.jobs.wait("job_1", timeout=10)
    assert caught.value.job_id == "job_1"
    assert now[0] == 10
    assert {each.method for each in server.requests} == {"GET"}


def test_a_wait_without_time_looks_once(server: Server) -> None:
    server.route = lambda request: httpx.Response(200, json=JOB)
    assert server.client().jobs.wait("job_1", timeout=0).status == "completed"
    job = asyncio.run(server.async_client().jobs.wait("job_1", timeout=0))
    assert job.status == "completed"


def test_an_async_wait_ends_in_time_too(server: Server) -> None:
    async def scenario() -> None:
        client = server.async_client()
        client.transport.sleep = asyncio.sleep
        await client.jobs.wait("job_1", timeout=0.01)

    server.route = lambda request: httpx.Response(200, json={**JOB, "status": "running"})
    with pytest.raises(sp.WaitTimeout):
        asyncio.run(scenario())
