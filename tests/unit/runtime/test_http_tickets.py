"""Tickets in the query string, for requests in which a browser can't set headers."""

import pytest

from spinneret.access.keys.models import Scope
from tests.unit.runtime.api import ISSUE, STREAM, SUBMIT, Answer, Api
from tests.unit.runtime.refusals import assert_refused

STREAMS = ("/api/v1/jobs/{}/stream", "/api/v1/crawl/{}/stream")


@pytest.fixture
def job_id(api: Api, key: str) -> str:
    """Provide a crawl of the tenant `acme`."""
    return str(api.send(SUBMIT, key, body={"url": "https://site.example/"}).body["job_id"])


@pytest.fixture
def ticket(api: Api, key: str, job_id: str) -> str:
    return str(issue(api, key, job_id).body["ticket"])


def issue(api: Api, key: str | None, job_id: str) -> Answer:
    return api.send(ISSUE, key, body="", path=f"/api/v1/jobs/{job_id}/tickets")


def get(api: Api, path: str, ticket: str | None, key: str | None = None, **headers: str) -> Answer:
    """Send a request with a ticket to the function that serves the path."""
    query = {} if ticket is None else {"ticket": ticket}
    return api.send(
        STREAM,
        key,
        path=path,
        headers=headers,
        queryStringParameters=query,
        multiValueQueryStringParameters={name: [value] for name, value in query.items()},
    )


def test_a_ticket_is_issued_for_a_job_that_the_caller_may_read(api: Api, job_id: str) -> None:
    answer = issue(api, api.key("acme", Scope.READ), job_id)
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.body == {
        "ticket": answer.body["ticket"],
        "expires_at": "2026-01-02T12:15:00.000000Z",
    }


@pytest.mark.parametrize("path", STREAMS)
def test_a_ticket_opens_the_stream_of_its_job(
    api: Api, key: str, job_id: str, ticket: str, path: str
) -> None:
    answer = get(api, path.format(job_id), ticket)
    assert answer.status == 200
    assert answer.text == get(api, path.format(job_id), None, key).text
    assert answer.headers["RateLimit-Limit"] == "6000"


@pytest.mark.parametrize("path", STREAMS)
def test_a_ticket_shows_no_other_job_of_its_tenant(
    api: Api, key: str, ticket: str, path: str
) -> None:
    body, again = {"url": "https://other.example/"}, {"Idempotency-Key": "another"}
    other = api.send(SUBMIT, key, body=body, headers=again).body["job_id"]
    refused = get(api, path.format(other), ticket)
    assert_refused(refused, 404, "NOT_FOUND")
    assert refused.text == get(api, path.format("job_unknown"), None, key).text
    assert refused.text == get(api, path.format("job_unknown"), ticket).text


@pytest.mark.parametrize(
    "path", ["/api/v1/jobs/{}", "/api/v1/jobs/{}/timeline", "/api/v1/jobs", "/api/v1/crawl/{}"]
)
def test_a_ticket_opens_nothing_else(api: Api, job_id: str, ticket: str, path: str) -> None:
    assert_refused(get(api, path.format(job_id), ticket), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize("path", STREAMS)
def test_a_ticket_in_a_header_is_no_key(api: Api, job_id: str, ticket: str, path: str) -> None:
    assert_refused(get(api, path.format(job_id), None, ticket), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize("path", STREAMS)
def test_a_key_in_the_query_is_no_ticket(api: Api, key: str, job_id: str, path: str) -> None:
    assert_refused(get(api, path.format(job_id), key), 401, "AUTH_REQUIRED")


def test_a_ticket_issues_no_ticket(api: Api, job_id: str, ticket: str) -> None:
    assert_refused(issue(api, ticket, job_id), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize("given", ["", "spt_unknown", "ü"])
def test_an_unknown_ticket_is_refused_as_a_key_is(api: Api, job_id: str, given: str) -> None:
    path = STREAMS[0].format(job_id)
    refused = get(api, path, given)
    assert_refused(refused, 401, "AUTH_REQUIRED")
    assert refused.text == get(api, path, None, "spn_unknown").text


def test_a_header_comes_before_a_ticket(api: Api, job_id: str, ticket: str) -> None:
    path = STREAMS[0].format(job_id)
    assert get(api, path, ticket, "spn_unknown").status == 401
    assert get(api, path, ticket, api.key("other")).status == 404
    assert get(api, path, ticket, Authorization="Basic c3BuX3Vua25vd246").status == 401


def test_a_ticket_dies_with_its_key(api: Api, key: str, job_id: str, ticket: str) -> None:
    api.keys.revoke("acme", api.keys.authenticate(key).key_id)
    assert_refused(get(api, STREAMS[0].format(job_id), ticket), 401, "AUTH_REQUIRED")


def test_a_ticket_is_issued_for_no_job_of_another_tenant(api: Api, key: str, job_id: str) -> None:
    foreign = issue(api, api.key("other"), job_id)
    assert_refused(foreign, 404, "NOT_FOUND")
    assert foreign.text == issue(api, key, "job_unknown").text
    assert api.key_store.tickets == {}


def test_a_ticket_is_not_logged(
    capsys: pytest.CaptureFixture[str], api: Api, job_id: str, ticket: str
) -> None:
    get(api, STREAMS[0].format(job_id), ticket)
    get(api, "/api/v1/jobs", ticket)
    out = capsys.readouterr().out
    assert "request_received" in out
    assert ticket not in out
