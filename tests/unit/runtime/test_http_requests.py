"""Rules for requests that hold for every route."""

import pytest
from pydantic import BaseModel, Field, ValidationError

from spinneret.runtime.http.validation import field_names, invalid
from tests.metrics import metrics_of
from tests.unit.runtime.api import HEALTH, QUERY, SUBMIT, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

URL = "https://example.com/"
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
    assert refused.body["details"]["fields"] == [
        {"path": "statuss", "message": "is unknown", "hint": "did you mean `status`?"}
    ]


def test_a_kind_that_nothing_declares_is_refused_by_name(api: Api, key: str) -> None:
    refused = api.send(HEALTH, key, **LIST, queryStringParameters={"kind": "crawls"})
    assert refused.status == 422
    assert [each["path"] for each in refused.body["details"]["fields"]] == ["kind"]
    assert all(kind in refused.body["error"] for kind in ("crawl", "delivery"))


def test_a_list_of_jobs_shows_what_each_is_about_and_finds_a_host_in_any_form(
    api: Api, key: str
) -> None:
    job = api.send(SUBMIT, key, body={"url": "https://Bücher.example/guide"}).body["job_id"]
    for domain in ("BÜCHER.example", "XN--bcher-kva.example"):
        query = {"domain": domain}
        [found] = api.send(HEALTH, key, **LIST, queryStringParameters=query).body["items"]
        assert (found["job_id"], found["subject"]) == (
            job,
            "https://xn--bcher-kva.example/guide",
        )


def test_each_request_is_counted_for_its_area(
    api: Api, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.send(HEALTH)
    api.send(QUERY, key, body={"colour": "red"})
    lines = metrics_of(capsys.readouterr().out)
    found = [(each["area"], each["requests_total"]) for each in lines if "area" in each]
    assert found == [("core", [1]), ("search", [1])]


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
        ({"url": "https://\ud800.example/"}, "url", "must not have a lone surrogate"),
    ],
)
def test_what_is_wrong_with_a_field_is_said_in_plain_words(
    api: Api, key: str, body: dict[str, object], field: str, message: str
) -> None:
    refused = api.send(SUBMIT, key, body=body)
    assert refused.status == 422
    [found] = [each for each in refused.body["details"]["fields"] if each["path"] == field]
    assert found["message"].startswith(message)


class _Product(BaseModel):
    currency: str = Field("EUR", pattern="^[A-Z]{3}$")
    price: int = 0
    title: str = Field("", min_length=1)
    images: list[str] = Field(default_factory=list, min_length=1)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"currency": "euro"}, "must match `^[A-Z]{3}$`"),
        ({"price": 1e308}, "is too large"),
        ({"title": ""}, "must not be empty"),
        ({"images": []}, "must not be empty"),
    ],
)
def test_a_refused_value_is_answered_with_what_it_must_be(
    body: dict[str, object], message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        _Product.model_validate(body)
    [field] = invalid(caught.value).details["fields"]
    assert field["message"] == message


# covers P-15
@pytest.mark.parametrize(
    ("event", "body", "hint"),
    [
        (SUBMIT, {"url": URL, "prioritty": "low"}, "did you mean `priority`?"),
        (SUBMIT, {"url": URL, "Force": True}, "did you mean `force`?"),
        (QUERY, {"query": "silk", "collections_id": ["a"]}, "did you mean `collection_ids`?"),
    ],
)
def test_an_unknown_field_is_answered_with_the_nearest_known_one(
    api: Api, key: str, event: str, body: dict[str, object], hint: str
) -> None:
    refused = assert_refused(api.send(event, key, body=body), 422, "VALIDATION_ERROR")
    [field] = refused["details"]["fields"]
    assert field["hint"] == hint


class _Inner(BaseModel):
    content: str
    media: str = Field(alias="mediaType")


class _Outer(BaseModel):
    parts: list[_Inner] | dict[str, _Inner] = []
    title: str = ""


@pytest.mark.parametrize(
    ("place", "known"),
    [
        ([], ["parts", "title"]),
        (["parts", 0], ["content", "media", "mediaType"]),
        (["parts", "list[_Inner]", 0], ["content", "media", "mediaType"]),
        (["title"], []),
    ],
)
def test_hints_come_from_the_model_at_the_place_of_the_fault(
    place: list[str | int], known: list[str]
) -> None:
    assert field_names(_Outer | None, place) == known


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [('{"url": }', 1, 9), ('{\n  "url": "https://a.example/",\n}', 3, 1), ("{'url': 1}", 1, 2)],
)
def test_malformed_json_is_refused_with_the_position_of_the_fault(
    api: Api, key: str, body: str, line: int, column: int
) -> None:
    refused = assert_refused(api.send(SUBMIT, key, body=body), 422, "VALIDATION_ERROR")
    [field] = refused["details"]["fields"]
    assert (field["path"], field["line"], field["column"]) == ("body", line, column)
    assert f"line {line}, column {column}" in refused["error"]


def test_a_field_that_occurs_twice_is_named(api: Api, key: str) -> None:
    refused = api.send(SUBMIT, key, body='{"url": "a", "force": true, "url": "b"}')
    assert fields_of(assert_refused(refused, 422, "VALIDATION_ERROR")) == ["url"]
