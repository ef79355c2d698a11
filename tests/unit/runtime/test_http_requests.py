"""What a request may look like, whichever route it is for."""

from __future__ import annotations

import pytest

from tests.unit.runtime.api import HEALTH, SUBMIT, Api

LIST = {"path": "/api/v1/jobs"}


@pytest.mark.parametrize("both", [False, True])
def test_a_parameter_that_the_route_does_not_know_is_refused(
    api: Api, key: str, both: bool
) -> None:
    query = {"limit": "5", "statuss": "failed"}
    many = {name: [value] for name, value in query.items()} if both else None
    refused = api.send(
        HEALTH, key, **LIST, queryStringParameters=query, multiValueQueryStringParameters=many
    )
    assert refused.status == 422
    assert refused.body["details"]["fields"] == [{"field": "statuss", "message": "is unknown"}]


def test_a_kind_that_nothing_declares_is_refused_by_name(api: Api, key: str) -> None:
    refused = api.send(HEALTH, key, **LIST, queryStringParameters={"kind": "crawls"})
    assert (refused.status, refused.body["details"]["fields"]) == (422, [{"field": "kind"}])
    assert all(kind in refused.body["error"] for kind in ("crawl", "delivery"))


def test_a_list_of_jobs_shows_what_each_is_about_and_finds_a_host_in_any_case(
    api: Api, key: str
) -> None:
    job = api.send(SUBMIT, key, body={"url": "https://Example.com/guide"}).body["job_id"]
    query = {"domain": "EXAMPLE.com"}
    [found] = api.send(HEALTH, key, **LIST, queryStringParameters=query).body["items"]
    assert (found["job_id"], found["subject"]) == (job, "https://example.com/guide")


@pytest.mark.parametrize(
    ("path", "status"), [("/health", 200), ("/api/v1/jobs", 401), ("/nowhere", 401)]
)
def test_head_is_answered_as_get_without_the_body(api: Api, path: str, status: int) -> None:
    api.as_documented = False  # the document lists no HEAD
    head = api.send(HEALTH, httpMethod="HEAD", path=path)
    assert (head.status, head.text) == (status, "")
    assert head.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize(
    ("body", "field", "message"),
    [
        ({"url": 7}, "url", "must be a text"),
        ({"urls": ["https://example.com/"] * 21}, "urls", "must have at most 20 items"),
        ({"url": "https://example.com/", "priority": "soon"}, "priority", "must be one of"),
        ({"url": "https://example.com/", "colour": "red"}, "colour", "is unknown"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_in_plain_words(
    api: Api, key: str, body: dict[str, object], field: str, message: str
) -> None:
    refused = api.send(SUBMIT, key, body=body)
    assert refused.status == 422
    [found] = [each for each in refused.body["details"]["fields"] if each["field"] == field]
    assert found["message"].startswith(message)
