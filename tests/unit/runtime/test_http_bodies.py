"""Contents of requests; an error names each invalid part."""

import base64
from typing import Any

import pytest

from spinneret.runtime import limits
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Api
from tests.unit.runtime.refusals import assert_refused, fields_of

# ---------------------------------------------------------------- Bodies


NOT_JSON = [
    "{",
    "{'url': 1}",
    '{"url": "https://a.example/"} x',
    '{"url": "https://a.example/", "url": "https://b.example/"}',
    '{"url": NaN}',
    '{"url": Infinity}',
    '{"priority": 1e999, "url": "https://a.example/"}',
    '{"url": %s}' % ("1" * 5000),
    "[" * 100_000,
    '\ufeff{"url": "https://a.example/"}',
]


@pytest.mark.parametrize("body", NOT_JSON, ids=[each[:24] for each in NOT_JSON])
@pytest.mark.parametrize("event", [SUBMIT, QUERY])
def test_a_body_that_is_no_strict_json_is_malformed(
    api: Api, key: str, event: str, body: str
) -> None:
    assert_refused(api.send(event, key, body=body), 422, "VALIDATION_ERROR")
    assert api.crawls.queue.sent == []


@pytest.mark.parametrize("body", ["null", "[]", '"text"', "7", "true", "[[]]", " "])
@pytest.mark.parametrize("event", [SUBMIT, QUERY])
def test_a_body_that_is_no_object_is_invalid(api: Api, key: str, event: str, body: str) -> None:
    answer = api.send(event, key, body=body)
    assert_refused(answer, 422, "VALIDATION_ERROR")


def test_a_missing_body_is_invalid(api: Api, key: str) -> None:
    assert_refused(api.send(SUBMIT, key, body=""), 422, "VALIDATION_ERROR")


def test_a_body_that_is_not_utf_8_is_malformed(api: Api, key: str) -> None:
    body = base64.b64encode(b'{"url": "https://a.example/\xff"}').decode()
    answer = api.send(SUBMIT, key, body=body, isBase64Encoded=True)
    assert_refused(answer, 422, "VALIDATION_ERROR")


def test_a_base64_body_is_read_with_and_without_an_idempotency_key(api: Api, key: str) -> None:
    body = base64.b64encode(b'{"url": "https://a.example/"}').decode()
    for header in ("one", None):
        answer = api.send(
            SUBMIT, key, body=body, isBase64Encoded=True, headers={"Idempotency-Key": header}
        )
        assert answer.status == 202, answer.text


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        None,
    ],
)
def test_json_is_taken_under_its_content_type_or_none(
    api: Api, key: str, content_type: str | None
) -> None:
    answer = api.send(SUBMIT, key, headers={"Content-Type": content_type})
    assert answer.status == 202, answer.text


# `curl -d` declares every body as a form.
@pytest.mark.parametrize("blanks", ["", " \n"])
def test_json_is_taken_under_the_content_type_that_curl_sends(
    api: Api, key: str, blanks: str
) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = api.send(SUBMIT, key, body=blanks + '{"url": "https://a.example/"}', headers=headers)
    assert answer.status == 202, answer.text


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", '{"url": "https://a.example/"}'),
        ("application/x-www-form-urlencoded", "url=https%3A%2F%2Fa.example%2F"),
        ("application/x-www-form-urlencoded", "urls=https%3A%2F%2Fa.example%2F"),
        (
            "multipart/form-data; boundary=x",
            '--x\r\nContent-Disposition: form-data; name="url"\r\n\r\nhttps://a.example/\r\n--x--',
        ),
    ],
)
def test_another_content_type_is_refused(api: Api, key: str, content_type: str, body: str) -> None:
    headers = {"Content-Type": content_type, "Idempotency-Key": None}
    answer = api.send(SUBMIT, key, body=body, headers=headers)
    refused = assert_refused(answer, 422, "VALIDATION_ERROR")
    assert fields_of(refused) == ["content-type"]
    assert api.crawls.queue.sent == []


# covers T-06
def test_an_overlong_body_is_refused_before_anything_is_read(api: Api) -> None:
    body = "x" * (limits.REQUEST_BODY_MAX_BYTES + 1)
    assert_refused(api.send(SUBMIT, None, body=body), 413, "BODY_TOO_LARGE")


def test_the_size_of_a_body_is_that_of_its_bytes(api: Api, key: str) -> None:
    body = '"%s"' % ("ü" * (limits.REQUEST_BODY_MAX_BYTES // 2))
    assert_refused(api.send(SUBMIT, key, body=body), 413, "BODY_TOO_LARGE")


# ---------------------------------------------------------------- Routes that read no body


IGNORED = {
    "no JSON": ("{", "application/json"),
    "a form": ("a=1", "application/x-www-form-urlencoded"),
    "too large": ("x" * (limits.REQUEST_BODY_MAX_BYTES + 1), "application/json"),
}


@pytest.mark.parametrize("body", IGNORED)
@pytest.mark.parametrize(
    ("event", "method", "path", "status"),
    [
        (GET, "GET", "/api/v1/crawl/job_9", 404),
        (GET, "POST", "/api/v1/crawl/job_9/cancel", 404),
        (GET, "POST", "/api/v1/webhooks/wh_9/test", 404),
        (GET, "DELETE", "/api/v1/webhooks/wh_9", 404),
        (HEALTH, "POST", "/api/v1/uploads", 201),
        (HEALTH, "GET", "/health", 200),
    ],
)
def test_a_body_that_no_route_reads_is_no_reason_to_refuse(
    api: Api, key: str, event: str, method: str, path: str, status: int, body: str
) -> None:
    text, content_type = IGNORED[body]
    headers = {"Content-Type": content_type, "Idempotency-Key": "one", "Upload-Id": "upl_9"}
    answer = api.send(event, key, httpMethod=method, path=path, body=text, headers=headers)
    assert answer.status == status, answer.text


# ---------------------------------------------------------------- Fields


URL = "https://a.example/"
INVALID: list[tuple[str, dict[str, Any], list[str]]] = [
    (SUBMIT, {}, ["body"]),
    (SUBMIT, {"url": URL, "urls": [URL]}, ["body"]),
    (SUBMIT, {"url": ""}, ["url"]),
    (SUBMIT, {"url": URL + "x" * (2049 - len(URL))}, ["url"]),
    (SUBMIT, {"url": 7}, ["url"]),
    (SUBMIT, {"url": "https://a.example/\ud800"}, ["url"]),
    (SUBMIT, {"urls": []}, ["urls"]),
    (SUBMIT, {"urls": [URL] * 21}, ["urls"]),
    (SUBMIT, {"urls": [URL, 7]}, ["urls.1"]),
    (SUBMIT, {"urls": "https://a.example/"}, ["urls"]),
    (SUBMIT, {"url": URL, "priority": "urgent"}, ["priority"]),
    (SUBMIT, {"url": URL, "force": "yes"}, ["force"]),
    (SUBMIT, {"url": URL, "force": 1}, ["force"]),
    (SUBMIT, {"url": URL, "depth": 1}, ["depth"]),
    (SUBMIT, {"url": URL, "tenant": "other"}, ["tenant"]),
    (QUERY, {}, ["query"]),
    (QUERY, {"query": ""}, ["query"]),
    (QUERY, {"query": " \t\n"}, ["query"]),
    (QUERY, {"query": "x" * 1001}, ["query"]),
    (QUERY, {"query": "silk", "limit": 0}, ["limit"]),
    (QUERY, {"query": "silk", "limit": 101}, ["limit"]),
    (QUERY, {"query": "silk", "limit": "5"}, ["limit"]),
    (QUERY, {"query": "silk", "limit": True}, ["limit"]),
    (QUERY, {"query": "silk", "rrf_k": 0}, ["rrf_k"]),
    (QUERY, {"query": "silk", "vector_weight": -1}, ["vector_weight"]),
    (QUERY, {"query": "silk", "keyword_weight": 11}, ["keyword_weight"]),
    (QUERY, {"query": "silk", "keyword_weight": "1"}, ["keyword_weight"]),
    (QUERY, {"query": "silk", "vector_weight": True}, ["vector_weight"]),
    (QUERY, {"query": "silk", "min_score": -0.1}, ["min_score"]),
    (QUERY, {"query": "silk", "tenant": "other"}, ["tenant"]),
    (QUERY, {"query": "silk", "limit": 0, "page": 1}, ["limit", "page"]),
]


# covers T-06
@pytest.mark.parametrize(
    ("event", "body", "fields"), INVALID, ids=[f"{e[:6]} {str(b)[:50]}" for e, b, _ in INVALID]
)
def test_an_invalid_field_is_named(
    api: Api, key: str, event: str, body: dict[str, Any], fields: list[str]
) -> None:
    refused = assert_refused(api.send(event, key, body=body), 422, "VALIDATION_ERROR")
    assert sorted(fields_of(refused)) == fields
    assert api.crawls.queue.sent == []


# covers T-06
def test_a_hundred_of_all_wrong_fields_are_named_and_long_names_are_cut(api: Api, key: str) -> None:
    for body in ({f"field {number}": 0 for number in range(5000)}, {"x" * 1_000_000: 0}):
        answer = api.send(QUERY, key, body=body)
        refused = assert_refused(answer, 422, "VALIDATION_ERROR")
        assert 0 < len(fields_of(refused)) <= 100
        assert len(answer.text) < 100_000


def test_an_invalid_value_is_not_repeated(api: Api, key: str) -> None:
    body = {"url": "https://a.example/", "priority": "hunter2", "force": "hunter2"}
    assert "hunter2" not in api.send(SUBMIT, key, body=body).text


@pytest.mark.parametrize(
    ("event", "body"),
    [
        (SUBMIT, {"url": URL + "x" * (2048 - len(URL))}),
        (SUBMIT, {"urls": [f"{URL}{n}" for n in range(20)]}),
        (QUERY, {"query": "x" * 1000}),
        (QUERY, {"query": "silk", "limit": 100, "rrf_k": 1, "vector_weight": 0}),
        (QUERY, {"query": f" {'x' * 1000} "}),
    ],
    ids=["longest URL", "most URLs", "longest query", "bounds", "blanks around"],
)
def test_a_value_at_its_bound_is_taken(
    api: Api, key: str, event: str, body: dict[str, Any]
) -> None:
    answer = api.send(event, key, body=body)
    assert answer.status in {200, 202}, answer.text


@pytest.mark.parametrize("value", ["", "x" * (limits.IDEMPOTENCY_KEY_MAX_CHARS + 1)])
def test_an_idempotency_key_has_1_to_255_characters(api: Api, key: str, value: str) -> None:
    answer = api.send(SUBMIT, key, headers={"Idempotency-Key": value})
    assert fields_of(assert_refused(answer, 422, "VALIDATION_ERROR")) == ["Idempotency-Key"]
