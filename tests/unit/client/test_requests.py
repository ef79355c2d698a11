"""Retries, idempotency keys, errors and pages of the Python client."""

# covers L-01
import asyncio
import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

import spinneret_client as sp
from spinneret_client.generated import models as m
from tests.unit.client.conftest import SUBMISSION, TAG, URL, Server, refusal
from tests.unit.client.samples import sample

OK = httpx.Response(202, json=SUBMISSION)
LOST = httpx.ReadError("connection reset")
REFUSED = httpx.ConnectError("connection refused")
BUSY = refusal(503, "DEPENDENCY_UNAVAILABLE")
LIMITED = refusal(429, "RATE_LIMITED", headers={"Retry-After": "3"})


@pytest.mark.parametrize(
    "fault",
    [
        *(LOST, REFUSED, httpx.ReadTimeout("slow"), httpx.DecodingError("no gzip")),
        *(BUSY, LIMITED, refusal(500, "INTERNAL_ERROR")),
    ],
    ids=["lost", "refused", "slow", "garbled", "busy", "limited", "internal"],
)
def test_a_retried_submission_repeats_its_key_and_its_bytes(server: Server, fault: object) -> None:
    server.script = [fault, fault, OK]  # type: ignore[list-item]
    job = server.client().crawls.create(url="https://example.com/")
    assert job.job_id == "job_1"
    first, *others = server.requests
    assert len(others) == 2
    for each in others:
        assert each.headers["Idempotency-Key"] == first.headers["Idempotency-Key"]
        assert each.content == first.content


def test_each_submission_has_a_key_of_its_own_and_the_callers_key_wins(server: Server) -> None:
    server.script = [OK, OK, OK]
    client = server.client()
    client.crawls.create(url="https://example.com/")
    client.crawls.create(url="https://example.com/")
    client.crawls.create(url="https://example.com/", idempotency_key="mine")
    keys = [each.headers["Idempotency-Key"] for each in server.requests]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_searches_have_no_key_but_are_retried(server: Server) -> None:
    server.route = lambda request: LOST
    with pytest.raises(sp.ConnectionFailed) as caught:
        server.client().search(query="silk")
    assert caught.value.attempts == len(server.requests) == 3
    assert f"POST {URL}/api/v1/search: " in str(caught.value)
    assert all("Idempotency-Key" not in each.headers for each in server.requests)


@pytest.mark.parametrize(("fault", "sent"), [(LOST, 1), (BUSY, 1), (REFUSED, 2), (LIMITED, 2)])
def test_a_creation_without_replay_is_repeated_only_if_it_was_surely_refused(
    server: Server, fault: object, sent: int
) -> None:
    server.script = [fault, httpx.Response(201, json=TAG)]  # type: ignore[list-item]
    client = server.client()
    if sent == 1:
        with pytest.raises(sp.SpinneretError):
            client.tags.create(name="silk")
    else:
        client.tags.create(name="silk")
    assert len(server.requests) == sent


def test_pauses_double_with_jitter_between_half_and_full(server: Server) -> None:
    server.route = lambda request: BUSY
    with pytest.raises(sp.Unavailable):
        server.client(retries=5).tags.get("tag_1")
    for pause, longest in zip(server.slept, (0.5, 1, 2, 4, 8), strict=True):
        assert longest / 2 <= pause <= longest


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_obeyed(server: Server, form: str) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=8), usegmt=True)
    asked = "7" if form == "seconds" else date
    server.script = [
        refusal(429, "RATE_LIMITED", headers={"Retry-After": asked}),
        httpx.Response(200, json=TAG),
    ]
    server.client().tags.get("tag_1")
    assert 6 <= server.slept[0] <= 8.1


@pytest.mark.parametrize("asked", ["soon", "-1", "Mon, 01 Jan 99999999999 00:00:00 GMT"])
def test_a_wait_that_can_not_be_read_counts_as_none(server: Server, asked: str) -> None:
    limited = refusal(429, "RATE_LIMITED", headers={"Retry-After": asked})
    server.script = [limited, httpx.Response(200, json=TAG)]
    server.client().tags.get("tag_1")
    assert 0.25 <= server.slept[0] <= 0.5


def test_a_wait_beyond_a_minute_is_left_to_the_caller(server: Server) -> None:
    server.script = [refusal(429, "RATE_LIMITED", headers={"Retry-After": "61"})]
    with pytest.raises(sp.RateLimited) as caught:
        server.client().tags.get("tag_1")
    assert caught.value.retry_after == 61


ERRORS = [
    (400, "URL_INVALID", sp.UrlRefused),
    (403, "URL_BLOCKED", sp.UrlRefused),
    (401, "AUTH_REQUIRED", sp.AuthRequired),
    (403, "FORBIDDEN", sp.Forbidden),
    (404, "NOT_FOUND", sp.NotFound),
    (404, "FEATURE_DISABLED", sp.FeatureDisabled),
    (409, "CONFLICT", sp.Conflict),
    (422, "VALIDATION_ERROR", sp.InvalidRequest),
    (422, "IDEMPOTENCY_MISMATCH", sp.IdempotencyMismatch),
    (429, "RATE_LIMITED", sp.RateLimited),
    (503, "CIRCUIT_OPEN", sp.Unavailable),
    (500, "INTERNAL_ERROR", sp.ServerError),
    (418, "SOMETHING_NEW", sp.ApiError),
    (422, "SOMETHING_NEW", sp.InvalidRequest),
]


@pytest.mark.parametrize(("status", "code", "kind"), ERRORS)
def test_errors_have_the_type_of_their_code(
    server: Server, status: int, code: str, kind: type[sp.ApiError]
) -> None:
    server.script = [
        refusal(status, code, fields=[{"path": "url", "message": "too long", "hint": None}])
    ]
    with pytest.raises(kind) as caught:
        server.client(retries=0).tags.get("tag_1")
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.request_id) == (status, code, "req-1")
    assert error.fields == [("url", "too long")]
    assert str(error) == f"because {code}"


def test_an_error_page_of_a_proxy_becomes_an_error_of_its_status(server: Server) -> None:
    server.script = [httpx.Response(502, text="<html>bad gateway</html>")]
    with pytest.raises(sp.ServerError) as caught:
        server.client(retries=0).tags.get("tag_1")
    assert caught.value.code == "HTTP_502"


def test_a_deletion_whose_first_response_was_lost_succeeds(server: Server) -> None:
    server.script = [LOST, refusal(404, "NOT_FOUND")]
    server.client().tags.delete("tag_1")
    server.script = [refusal(404, "NOT_FOUND")]
    with pytest.raises(sp.NotFound):
        server.client().tags.delete("tag_1")


def test_unknown_fields_are_kept_and_unknown_values_dont_raise(server: Server) -> None:
    server.script = [httpx.Response(202, json={**SUBMISSION, "status": "dreaming", "new": 1})]
    job = server.client().crawls.create(url="https://example.com/")
    assert job.status == "dreaming"
    assert job.model_extra == {"new": 1}


def test_another_form_of_response_is_an_error_of_its_own(server: Server) -> None:
    server.script = [httpx.Response(200, json={"surprise": True})]
    with pytest.raises(sp.UnexpectedResponse, match="/api/v1/tags/tag_1"):
        server.client().tags.get("tag_1")


def _pages(request: httpx.Request) -> httpx.Response:
    number = int(request.url.params.get("cursor", "c0")[1:])
    items = [{**TAG, "tag_id": f"tag_{number}_{each}"} for each in range(2)]
    following = f"c{number + 1}" if number < 2 else None
    page = {"items": items, "next_cursor": following, "has_more": following is not None}
    return httpx.Response(200, json=page)


def test_lists_iterate_over_all_pages_with_their_filters(server: Server) -> None:
    server.route = _pages
    tags = server.client().tags.list(limit=2)
    names = [tag.tag_id for tag in tags]
    assert names == [f"tag_{page}_{each}" for page in range(3) for each in range(2)]
    assert [each.url.params["limit"] for each in server.requests] == ["2", "2", "2"]
    assert [len(page.items) for page in tags.pages()] == [2, 2, 2]


@pytest.mark.parametrize(("most", "requests"), [(0, 0), (2, 1), (3, 2)])
def test_a_bound_of_items_saves_requests(server: Server, most: int, requests: int) -> None:
    server.route = _pages
    assert len(list(server.client().tags.list(max_items=most))) == most
    assert len(server.requests) == requests


def test_one_failed_page_is_retried_alone(server: Server) -> None:
    faults = [BUSY]

    def route(request: httpx.Request) -> httpx.Response:
        if request.url.params.get("cursor") == "c1" and faults:
            return faults.pop()
        return _pages(request)

    server.route = route
    assert len(list(server.client().tags.list())) == 6
    assert len(server.requests) == 4


def test_a_repeated_cursor_ends_with_an_error(server: Server) -> None:
    page = {"items": [TAG], "next_cursor": "same", "has_more": True}
    server.route = lambda request: httpx.Response(200, json=page)
    with pytest.raises(sp.UnexpectedResponse, match="cursor"):
        list(server.client().tags.list())


def _circle(request: httpx.Request) -> httpx.Response:
    """Return a page whose cursor leads to the other of two pages, so that the pages never end."""
    following = "b" if request.url.params.get("cursor") == "a" else "a"
    if request.url.path.endswith("/discover/job_1"):
        body = sample(m.DiscoveryView, job_id="job_1", next_cursor=following, has_more=True)
    else:
        body = {"items": [], "next_cursor": following, "has_more": True, "status": "running"}
    return httpx.Response(200, json=body)


READ_BY_PAGES: list[Callable[[sp.Spinneret], Iterable[object]]] = [
    lambda client: client.tags.list(),
    lambda client: client.discovery.urls("job_1"),
    lambda client: client.jobs.stream("job_1"),
]


@pytest.mark.parametrize("read", READ_BY_PAGES)
def test_cursors_in_a_circle_end_with_an_error(
    server: Server, read: Callable[[sp.Spinneret], Iterable[object]]
) -> None:
    def route(request: httpx.Request) -> httpx.Response:
        assert len(server.requests) < 20, "it never ends"
        if request.url.path.endswith("/stream"):
            return refusal(405, "METHOD_NOT_ALLOWED")
        return _circle(request)

    server.route = route
    with pytest.raises(sp.UnexpectedResponse, match="cursor"):
        list(read(server.client()))


def test_a_redirect_is_no_success(server: Server) -> None:
    server.script = [httpx.Response(308, headers={"Location": "https://other.example/"})]
    with pytest.raises(sp.UnexpectedResponse, match=r"other\.example"):
        server.client().tags.delete("tag_1")


@pytest.mark.parametrize("make", [sp.Spinneret, sp.AsyncSpinneret])
def test_a_proxy_of_the_environment_that_cant_be_used_is_explained(
    make: Callable[[str, str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://proxy.example")
    with pytest.raises(sp.ConfigurationError, match="proxy"):
        make("https://api.example", "sk-test")


def test_a_garbled_object_is_an_error_of_the_client(server: Server) -> None:
    address = httpx.Response(200, json=sample(m.TextAddress, url="https://store.example/text"))
    server.script = [address, httpx.DecodingError("no gzip")] * 2
    with pytest.raises(sp.ConnectionFailed):
        server.client().documents.text("doc_1")
    with pytest.raises(sp.ConnectionFailed):
        asyncio.run(server.async_client().documents.text("doc_1"))


@pytest.mark.parametrize("fault", [LOST, httpx.ReadTimeout("slow"), httpx.Response(403)])
def test_a_failed_upload_is_an_error_of_the_client(server: Server, fault: object) -> None:
    form = sample(m.InboxView, job_id="job_1", url="https://store.example/", fields={"key": "k"})
    server.script = [httpx.Response(202, json=form), fault] * 2  # type: ignore[list-item]
    with pytest.raises(sp.ConnectionFailed):
        server.client(timeout=7).inbox.upload("urls.txt", b"https://example.com/")
    assert server.requests[1].extensions["timeout"]["read"] == 7
    with pytest.raises(sp.ConnectionFailed):
        asyncio.run(server.async_client().inbox.upload("urls.txt", b"https://example.com/"))


def test_the_async_client_does_the_same(server: Server) -> None:
    async def scenario() -> tuple[str, list[str]]:
        server.script = [LOST, OK]
        async with server.async_client() as client:
            job = await client.crawls.create(url="https://example.com/")
            server.route = _pages
            return job.job_id, [tag.tag_id async for tag in client.tags.list(max_items=5)]

    job_id, tags = asyncio.run(scenario())
    assert job_id == "job_1"
    assert len(tags) == 5
    assert len({each.headers.get("Idempotency-Key") for each in server.requests[:2]}) == 1


def test_requests_carry_credential_agent_and_json(server: Server) -> None:
    server.script = [httpx.Response(200, json=TAG)]
    server.client().tags.rename("a/b", name="silk")
    (request,) = server.requests
    assert request.url.raw_path == b"/api/v1/tags/a%2Fb"
    assert request.headers["Authorization"] == "Bearer sk-test"
    assert request.headers["User-Agent"].startswith("spinneret-python/")
    assert json.loads(request.content) == {"name": "silk"}


def test_options_change_a_copy(server: Server) -> None:
    client = server.client()
    impatient = client.with_options(timeout=2.0, retries=0)
    assert impatient.transport.settings.timeout == 2.0
    assert client.transport.settings.timeout == 30.0
    with pytest.raises(TypeError, match="time_out"):
        client.with_options(time_out=3)


def test_a_key_never_appears_in_representations(server: Server) -> None:
    client = server.client()
    assert "sk-test" not in f"{client.connection!r} {client.transport.settings!r}"


def test_an_empty_id_is_refused_before_any_request(server: Server) -> None:
    with pytest.raises(sp.ConfigurationError):
        server.client().tags.delete("")
    assert server.requests == []
