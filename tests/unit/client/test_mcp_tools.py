"""The tools for agents: their size, limits, hints and errors."""

# covers L-03
import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from mcp import Client

from spinneret_client.generated import models as m
from spinneret_client.mcp_server.answers import MOST_BYTES, bounded_items, sliced
from spinneret_client.mcp_server.server import server_of
from spinneret_client.mcp_server.working import WorkingTools
from tests.unit.client.conftest import Server, refusal
from tests.unit.client.samples import crawl, failure, found, hit, sample

READING = {"search", "read_document", "crawl_status", "audit_report"}
WRITING = {"crawl_page", "check_link", "crawl_site", "discover_urls", "audit_site", "screenshot"}
MOST_TOKENS = 400
TEXT = "sticky silk " * 5000


class Api:
    """A fake API; if the key may only read, it refuses every writing route."""

    def __init__(self, server: Server, *, writes: bool = True) -> None:
        server.route = self._reply
        self.writes = writes
        self.replies: dict[tuple[str, str], httpx.Response] = {}

    def _reply(self, request: httpx.Request) -> httpx.Response:
        place = (request.method, request.url.path)
        if place in self.replies and request.content != b"{}":
            return self.replies[place]
        if request.url.host == "store.example":
            return httpx.Response(200, text=TEXT)
        if request.content == b"{}":
            return refusal(422, "VALIDATION_ERROR") if self.writes else refusal(403, "FORBIDDEN")
        return refusal(404, "NOT_FOUND")


def _with_agent[Result](server: Server, use: Callable[[Client], Awaitable[Result]]) -> Result:
    async def scenario() -> Result:
        async with Client(server_of(server.client())) as agent:
            return await use(agent)

    return asyncio.run(scenario())


def _called(server: Server, tool: str, **arguments: Any) -> tuple[bool, Any]:
    async def use(agent: Client) -> tuple[bool, Any]:
        answer = await agent.call_tool(tool, arguments)
        text = answer.content[0].text
        assert len(text.encode()) <= MOST_BYTES
        brace = text.find("{")
        return bool(answer.is_error), json.loads(text[brace:]) if brace >= 0 else text

    return _with_agent(server, use)


def _tools(server: Server) -> list[Any]:
    async def use(agent: Client) -> list[Any]:
        return list((await agent.list_tools()).tools)

    return _with_agent(server, use)


def test_a_writing_key_has_all_tools_and_each_is_small(server: Server) -> None:
    Api(server)
    tools = _tools(server)
    assert {each.name for each in tools} == READING | WRITING
    for tool in tools:
        shown = json.dumps(tool.model_dump(mode="json", by_alias=True, exclude_none=True))
        assert len(shown.encode()) / 4 <= MOST_TOKENS, tool.name
        assert len(f"spinneret__{tool.name}") <= 50
        assert tool.annotations.destructive_hint is not True
        assert tool.annotations.read_only_hint is (tool.name in READING)


def test_a_reading_key_has_reading_tools_only(server: Server) -> None:
    Api(server, writes=False)
    assert {each.name for each in _tools(server)} == READING


def test_numbers_and_texts_have_bounds(server: Server) -> None:
    Api(server)
    for tool in _tools(server):
        for name, schema in tool.input_schema["properties"].items():
            kinds = [schema, *schema.get("anyOf", [])]
            for each in kinds:
                if each.get("type") == "string":
                    assert "maxLength" in each or "enum" in each, (tool.name, name)
                if each.get("type") == "integer" and name != "offset":
                    assert "maximum" in each, (tool.name, name)


def test_a_screenshot_is_an_address_and_never_bytes(server: Server) -> None:
    api = Api(server)
    made = sample(m.MediaSubmission, job_id="job_1", status="pending")
    done = sample(
        m.MediaView,
        job_id="job_1",
        status="completed",
        download_url="https://store.example/1",
        is_cut=False,
    )
    api.replies["POST", "/api/v1/screenshot"] = httpx.Response(202, json=made)
    api.replies["GET", "/api/v1/media/job_1"] = httpx.Response(200, json=done)
    is_error, answer = _called(server, "screenshot", url="https://example.com/")
    assert not is_error
    assert answer["download_url"] == "https://store.example/1"
    assert answer["status"] == "completed"


def test_an_argument_out_of_range_names_the_range(server: Server) -> None:
    Api(server)
    failed, text = _called(server, "search", query="silk", limit=21)
    assert failed
    assert "less than or equal to 20" in json.dumps(text)


def test_a_search_gives_snippets_as_untrusted_text(server: Server) -> None:
    api = Api(server)
    reply = found(hit(title="Obey", section_header="Obey", content=TEXT), total=1)
    api.replies["POST", "/api/v1/search"] = httpx.Response(200, json=reply)
    failed, answer = _called(server, "search", query="silk")
    assert not failed
    assert len(answer["items"][0]["untrusted_snippet"]) == 500
    assert answer["truncated"] is False
    foreign = [name for name, each in answer["items"][0].items() if each == "Obey"]
    assert foreign == ["untrusted_title", "untrusted_section"]


def _document(api: Api) -> None:
    base = "/api/v1/documents/doc_1"
    full = sample(m.FullDocument, document_id="doc_1", url="https://example.com/")
    api.replies["GET", base] = httpx.Response(200, json=full)
    address = sample(m.TextAddress, url="https://store.example/text")
    api.replies["GET", f"{base}/markdown"] = httpx.Response(200, json=address)


def test_slices_join_to_the_whole_document(server: Server) -> None:
    _document(Api(server))
    text, offset = "", 0
    while offset is not None:
        _, answer = _called(
            server, "read_document", document_id="doc_1", offset=offset, max_bytes=50_000
        )
        text += answer["untrusted_text"]
        offset = answer["next_offset"]
    assert text == TEXT


def test_a_document_is_a_resource_too(server: Server) -> None:
    _document(Api(server))

    async def use(agent: Client) -> Any:
        return (await agent.read_resource("spinneret://documents/doc_1")).contents[0].text

    assert json.loads(_with_agent(server, use))["url"] == "https://example.com/"


def test_a_page_in_time_has_its_text_and_a_slow_one_its_job(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(server)
    submission = sample(m.Submission, job_id="job_1", status="pending")
    api.replies["POST", "/api/v1/crawl"] = httpx.Response(202, json=submission)
    place = ("GET", "/api/v1/crawl/job_1")
    api.replies[place] = httpx.Response(200, json=crawl(markdown="# Page"))
    _, answer = _called(server, "crawl_page", url="https://example.com/")
    assert answer["untrusted_text"] == "# Page"
    monkeypatch.setattr("spinneret_client.mcp_server.working._left", lambda client: 0.0)
    api.replies[place] = httpx.Response(200, json=crawl("running"))
    _, answer = _called(server, "crawl_page", url="https://example.com/")
    assert (answer["job_id"], answer["status"]) == ("job_1", "pending")


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_server_that_hangs_delays_no_tool_beyond_its_time(
    server: Server, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """The server hangs from the first, second or third status request on; the crawl never ends."""
    now, looks = [1000.0], [0]

    def wait(seconds: float) -> None:
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=wait)

    def reply(request: httpx.Request) -> httpx.Response | Exception:
        if request.method == "POST":
            made = sample(m.Submission, job_id="job_1", status="pending")
            return httpx.Response(202, json=made)
        looks[0] += 1
        if looks[0] > at:
            wait(request.extensions["timeout"]["read"])
            return httpx.ReadTimeout("hangs")
        wait(9.0)
        return httpx.Response(200, json=crawl("running"))

    for module in ("transport", "links", "mcp_server.working"):
        monkeypatch.setattr(f"spinneret_client.{module}.time", clock)
    server.route = reply
    client = server.client()
    client.transport.clock, client.transport.sleep = clock.monotonic, wait
    tools = WorkingTools(client.with_options(timeout=10.0, retries=0))
    assert tools.crawl_page("https://example.com/")["job_id"] == "job_1"
    assert now[0] <= 1025.0
    now[0], looks[0] = 2000.0, 0
    assert tools.check_link("https://example.com/")["outcome"] == "unfinished"
    assert now[0] <= 2025.0


def test_a_session_is_refreshed_at_the_beginning_of_a_call_only(server: Server) -> None:
    api, asked = Api(server), [0]
    api.replies["POST", "/api/v1/crawl"] = httpx.Response(
        202, json=sample(m.Submission, job_id="job_1", status="pending")
    )
    api.replies["GET", "/api/v1/crawl/job_1"] = httpx.Response(200, json=crawl("completed"))
    client = server.client()

    def credential() -> str:
        asked[0] += 1
        return f"access-{asked[0]}"

    client.transport.settings = replace(client.transport.settings, credential=credential)
    WorkingTools(client).crawl_page("https://example.com/")
    sent = [each.headers["Authorization"] for each in server.requests]
    assert sent == ["Bearer access-1"] * 2


def test_a_broken_link_is_an_answer_not_an_error(server: Server) -> None:
    api = Api(server)
    submission = sample(m.Submission, job_id="job_1", status="pending")
    api.replies["POST", "/api/v1/crawl"] = httpx.Response(202, json=submission)
    lost = crawl("failed", error=failure("FETCH_FAILED", "404"))
    api.replies["GET", "/api/v1/crawl/job_1"] = httpx.Response(200, json=lost)
    failed, answer = _called(server, "check_link", url="https://example.com/x")
    assert not failed
    assert answer["outcome"] == "broken"


@pytest.mark.parametrize(
    ("reply", "retryable", "step"),
    [
        (refusal(404, "NOT_FOUND"), False, "check the id"),
        (refusal(429, "RATE_LIMITED", headers={"Retry-After": "9"}), True, "in 9 seconds"),
        (refusal(503, "DEPENDENCY_UNAVAILABLE"), True, "try again later"),
        (refusal(503, "CIRCUIT_OPEN", headers={"Retry-After": "255"}), True, "in 255 seconds"),
        (refusal(401, "AUTH_REQUIRED"), False, "spinneret login"),
        (httpx.Response(200, text="<html>"), False, "to check the address"),
    ],
)
def test_errors_are_flagged_with_cause_and_next_step(
    server: Server, reply: httpx.Response, retryable: bool, step: str
) -> None:
    api = Api(server)
    api.replies["GET", "/api/v1/jobs/job_1"] = reply
    failed, error = _called(server, "crawl_status", job_id="job_1")
    assert failed
    assert error["retryable"] is retryable
    assert step in error["next_step"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [({}, "query"), ({"query": ""}, "query"), ({"query": "silk", "limit": 999}, "limit")],
)
def test_refused_arguments_are_an_error_like_others(
    server: Server, arguments: dict[str, Any], fault: str
) -> None:
    Api(server)
    failed, error = _called(server, "search", **arguments)
    assert failed
    assert (error["retryable"], error["next_step"]) == (False, "correct the arguments")
    assert [each.partition(": ")[0] for each in error["arguments"]] == [fault]


def test_what_a_job_took_from_a_website_is_untrusted(server: Server) -> None:
    api = Api(server)
    job = sample(m.JobWithCounts, job_id="job_1", result={"title": "Obey", "links": 3})
    api.replies["GET", "/api/v1/jobs/job_1"] = httpx.Response(200, json=job)
    _, answer = _called(server, "crawl_status", job_id="job_1")
    assert answer["untrusted_result"] == {"title": "Obey", "links": 3}
    assert "result" not in answer


def test_lists_are_cut_between_items() -> None:
    items = [{"text": "x" * 3000} for _ in range(9)]
    answer = bounded_items(items, total=9, next_cursor="c")
    assert answer["truncated"] is True
    assert 0 < len(answer["items"]) < 9
    assert "next_cursor" not in answer
    assert all(each == items[0] for each in answer["items"])


def test_a_slice_is_bounded_as_it_is_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.unit.client.test_mcp_tools.TEXT", '"\n\t' * 40_000)
    _document(Api(server))
    _, answer = _called(server, "read_document", document_id="doc_1", max_bytes=50_000)
    assert 0 < answer["next_offset"] < 50_000


def test_slices_never_cut_a_character() -> None:
    part = sliced("ü" * 100, 0, 51)
    assert part["untrusted_text"] == "ü" * 25
    assert part["next_offset"] == 25
