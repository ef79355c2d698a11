"""Every refusal has one shape and shows nothing of the inside."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from spinneret.kernel import errors, limits
from spinneret.kernel.errors import DomainError, HttpUnavailable, TransientError
from spinneret.tenancy.models import Scope
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Answer, Api, load

JSON = "application/json"


def assert_refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    """The one shape of a refusal."""
    assert (answer.status, answer.headers["Content-Type"]) == (status, JSON), answer.text
    body: dict[str, Any] = answer.body
    assert set(body) == {"error", "code", "details", "request_id"}
    assert body["code"] == code
    assert body["request_id"] == load(SUBMIT)["requestContext"]["requestId"]
    assert isinstance(body["error"], str)
    assert isinstance(body["details"], dict)
    return body


def fields_of(body: dict[str, Any]) -> list[str]:
    return [each["field"] for each in body["details"]["fields"]]


# ---------------------------------------------------------------- Credentials


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Api-Key": ""},
        {"X-Api-Key": "spn_unknown"},
        {"Authorization": "Bearer spn_unknown"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic c3BuX3Vua25vd246"},
        {"Authorization": "spn_unknown"},
    ],
)
@pytest.mark.parametrize("event", [SUBMIT, GET, QUERY])
def test_a_request_without_a_valid_key_is_refused(
    api: Api, event: str, headers: dict[str, str]
) -> None:
    api.key()
    assert_refused(api.send(event, None, headers=headers), 401, "AUTH_REQUIRED")
    assert api.crawls.queue.sent == []


def test_a_refused_credential_is_not_repeated(api: Api) -> None:
    answer = api.send(SUBMIT, "spn_hunter2", headers={"Authorization": "Basic hunter2"})
    assert answer.status == 401
    assert "hunter2" not in answer.text


@pytest.mark.parametrize("name", ["X-Api-Key", "x-api-key", "X-API-KEY"])
def test_a_key_is_taken_from_its_header_in_any_case(api: Api, key: str, name: str) -> None:
    assert api.send(SUBMIT, headers={name: key}).status == 202


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
@pytest.mark.parametrize("name", ["Authorization", "authorization"])
def test_a_key_is_taken_as_bearer_token(api: Api, key: str, name: str, scheme: str) -> None:
    assert api.send(SUBMIT, headers={name: f"{scheme} {key}"}).status == 202


def test_an_expired_key_is_refused(api: Api) -> None:
    until = api.crawls.clock() + timedelta(seconds=60)
    _, secret = api.keys.issue("acme", "test", frozenset({Scope.WRITE}), until)
    api.crawls.clock.advance(59)
    assert api.send(SUBMIT, secret).status == 202
    api.crawls.clock.advance(1)
    assert_refused(api.send(SUBMIT, secret), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize(
    ("event", "scope", "allowed"),
    [
        (SUBMIT, Scope.READ, False),
        (SUBMIT, Scope.WRITE, True),
        (SUBMIT, Scope.ADMIN, True),
        (GET, Scope.READ, True),
        (GET, Scope.WRITE, True),
        (QUERY, Scope.READ, True),
        (QUERY, Scope.ADMIN, True),
    ],
)
def test_a_route_asks_for_its_scope(api: Api, event: str, scope: Scope, allowed: bool) -> None:
    answer = api.send(event, api.key("acme", scope))
    if allowed:
        assert answer.status != 403
    else:
        assert_refused(answer, 403, "FORBIDDEN")
        assert api.crawls.queue.sent == []


@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_liveness_needs_no_key_and_no_store(api: Api, path: str) -> None:
    api.key_store.available = False
    answer = api.send(HEALTH, path=path)
    assert (answer.status, answer.body) == (200, {"status": "ok"})


def test_a_key_store_that_is_down_is_named(api: Api, key: str) -> None:
    api.key_store.available = False
    body = assert_refused(api.send(SUBMIT, key), 503, "DEPENDENCY_UNAVAILABLE")
    assert body["details"] == {"dependency": "dynamodb"}


# ---------------------------------------------------------------- Routes


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/nothing"),
        ("GET", "/api/v1/crawl"),
        ("PUT", "/api/v1/crawl"),
        ("DELETE", "/api/v1/crawl/job_1"),
        ("GET", "/api/v1/crawl/job_1/more"),
        ("POST", "/api/v1/crawl/"),
        ("POST", "/health"),
        ("GET", "/"),
        ("GET", ""),
    ],
)
def test_a_route_that_is_not_served_is_not_found_behind_a_key(
    api: Api, key: str, method: str, path: str
) -> None:
    request = {"httpMethod": method, "path": path}
    assert_refused(api.send(SUBMIT, key, **request), 404, "NOT_FOUND")
    assert_refused(api.send(SUBMIT, None, **request), 401, "AUTH_REQUIRED")


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
    assert_refused(api.send(event, key, body=body), 400, "VALIDATION_ERROR")
    assert api.crawls.queue.sent == []


@pytest.mark.parametrize("body", ["null", "[]", '"text"', "7", "true", "[[]]", " "])
@pytest.mark.parametrize("event", [SUBMIT, QUERY])
def test_a_body_that_is_no_object_is_invalid(api: Api, key: str, event: str, body: str) -> None:
    answer = api.send(event, key, body=body)
    assert answer.status in {400, 422}
    assert_refused(answer, answer.status, "VALIDATION_ERROR")


def test_a_missing_body_is_invalid(api: Api, key: str) -> None:
    assert_refused(api.send(SUBMIT, key, body=""), 422, "VALIDATION_ERROR")


def test_a_body_that_is_not_utf_8_is_malformed(api: Api, key: str) -> None:
    body = base64.b64encode(b'{"url": "https://a.example/\xff"}').decode()
    answer = api.send(SUBMIT, key, body=body, isBase64Encoded=True)
    assert_refused(answer, 400, "VALIDATION_ERROR")


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


def test_an_overlong_body_is_refused_before_anything_is_read(api: Api) -> None:
    body = "x" * (limits.REQUEST_BODY_MAX_BYTES + 1)
    assert_refused(api.send(SUBMIT, None, body=body), 413, "BODY_TOO_LARGE")


def test_the_size_of_a_body_is_that_of_its_bytes(api: Api, key: str) -> None:
    body = '"%s"' % ("ü" * (limits.REQUEST_BODY_MAX_BYTES // 2))
    assert_refused(api.send(SUBMIT, key, body=body), 413, "BODY_TOO_LARGE")


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
    (QUERY, {"query": "x\ud800"}, ["query"]),
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


@pytest.mark.parametrize(
    ("event", "body", "fields"), INVALID, ids=[f"{e[:6]} {str(b)[:50]}" for e, b, _ in INVALID]
)
def test_an_invalid_field_is_named(
    api: Api, key: str, event: str, body: dict[str, Any], fields: list[str]
) -> None:
    refused = assert_refused(api.send(event, key, body=body), 422, "VALIDATION_ERROR")
    assert sorted(fields_of(refused)) == fields
    assert api.crawls.queue.sent == []


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


# ---------------------------------------------------------------- Errors of services


def concrete_errors() -> list[type[DomainError]]:
    return [
        each
        for each in vars(errors).values()
        if isinstance(each, type)
        and issubclass(each, DomainError)
        and each not in {DomainError, TransientError, errors.PermanentError}
    ]


@pytest.mark.parametrize("kind", concrete_errors())
def test_every_error_has_its_code_and_status(api: Api, key: str, kind: type[DomainError]) -> None:
    def fail(*_: Any) -> Any:
        raise kind("why")

    api.services.crawl.get = fail
    assert_refused(api.send(GET, key), kind.status, kind.code)


def test_a_wish_to_wait_is_passed_on(api: Api, key: str) -> None:
    def fail(*_: Any) -> Any:
        raise HttpUnavailable("busy", retry_after=7.4)

    api.services.crawl.get = fail
    answer = api.send(GET, key)
    assert_refused(answer, 502, "HTTP_ERROR")
    assert answer.headers["Retry-After"] == "7"


@pytest.mark.parametrize(
    "error", [ValueError("password=hunter2"), KeyError("hunter2"), RecursionError("hunter2")]
)
def test_an_unexpected_error_shows_nothing_of_the_inside(
    api: Api, key: str, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    api.services.crawl.get = fail
    body = assert_refused(api.send(GET, key), 500, "INTERNAL_ERROR")
    assert (body["error"], body["details"]) == ("internal error", {})
    logged = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [failure] = [line for line in logged if line["message"] == "request_failed"]
    assert failure["request_id"] == body["request_id"]
    assert type(error).__name__ in failure["exception"]


def test_a_request_is_logged_without_its_credential(
    api: Api, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api.send(SUBMIT, key, headers={"Authorization": f"Bearer {key}"})
    out = capsys.readouterr().out
    logged = [json.loads(line) for line in out.splitlines()]
    assert [line["message"] for line in logged] == ["request_received", "request_done"]
    done = logged[-1]
    assert (done["method"], done["path"], done["status"]) == ("POST", "/api/v1/crawl", 202)
    assert (done["tenant"], done["client_ip"]) == ("acme", "203.0.113.7")
    assert key not in out
