"""Credentials, scopes and routes."""

from datetime import timedelta

import pytest

from spinneret.access.keys.models import Scope
from tests.unit.runtime.api import GET, HEALTH, QUERY, SUBMIT, Api
from tests.unit.runtime.refusals import assert_refused

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


@pytest.mark.parametrize(
    "authorization", ["Basic {}", "Bearer", "Bearer ", "Bearer spn_unknown", "{}", "Token {}", " "]
)
def test_an_authorization_header_counts_alone(api: Api, key: str, authorization: str) -> None:
    headers = {"X-Api-Key": key, "Authorization": authorization.format(key)}
    assert_refused(api.send(SUBMIT, headers=headers), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize("authorization", ["{}", "Basic {}", "Bearer", "Bearer  ", "Bearer:{}", ""])
def test_an_authorization_header_of_another_form_is_named_as_the_reason(
    api: Api, key: str, authorization: str
) -> None:
    answer = api.send(SUBMIT, headers={"Authorization": authorization.format(key)})
    refusal = assert_refused(answer, 401, "AUTH_REQUIRED")
    assert "Bearer <API key>" in refusal["error"]
    assert key not in answer.text
    unknown = api.send(SUBMIT, headers={"Authorization": "Bearer spn_unknown"})
    assert "Bearer" not in unknown.body["error"]


def test_of_two_keys_the_one_in_the_authorization_header_is_used(api: Api) -> None:
    reader, writer = api.key("acme", Scope.READ), api.key("acme", Scope.WRITE)
    bearer = {"X-Api-Key": reader, "Authorization": f"Bearer {writer}"}
    assert api.send(SUBMIT, headers=bearer).status == 202
    bearer = {"X-Api-Key": writer, "Authorization": f"Bearer {reader}"}
    assert api.send(SUBMIT, headers=bearer).status == 403


def test_an_authorization_header_counts_alone_even_if_it_is_empty(api: Api, key: str) -> None:
    headers = {"X-Api-Key": key, "Authorization": ""}
    assert_refused(api.send(SUBMIT, headers=headers), 401, "AUTH_REQUIRED")


def test_an_expired_key_is_refused(api: Api) -> None:
    until = api.crawls.clock() + timedelta(seconds=60)
    _, secret = api.keys.issue("acme", "test", frozenset({Scope.WRITE}), until)
    api.crawls.clock.advance(59)
    assert api.send(SUBMIT, secret).status == 202
    api.crawls.clock.advance(1)
    assert_refused(api.send(SUBMIT, secret), 401, "AUTH_REQUIRED")


# covers T-03
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


# covers P-13
@pytest.mark.parametrize("path", ["/health", "/api/v1/health"])
def test_liveness_needs_no_key_and_no_store(api: Api, path: str) -> None:
    api.key_store.available = False
    answer = api.send(HEALTH, path=path)
    assert (answer.status, answer.body) == (200, {"status": "ok", "checks": {}})


def test_a_key_store_that_is_down_is_named(api: Api, key: str) -> None:
    api.key_store.available = False
    body = assert_refused(api.send(SUBMIT, key), 503, "DEPENDENCY_UNAVAILABLE")
    assert body["details"] == {"dependency": "dynamodb"}


# ---------------------------------------------------------------- Routes


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/nothing"),
        ("GET", "/api/v1/crawl/job_1/more"),
        ("POST", "/api/v1/crawl/"),
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


# covers P-15
@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/v1/crawl", "POST"),
        ("PUT", "/api/v1/crawl", "POST"),
        ("OPTIONS", "/api/v1/crawl", "POST"),
        ("HEAD", "/api/v1/crawl", "POST"),
        ("DELETE", "/api/v1/crawl/job_1", "GET, HEAD"),
        ("PUT", "/api/v1/webhooks", "GET, HEAD, POST"),
    ],
)
def test_a_path_without_the_method_names_its_methods_to_who_has_a_key(
    api: Api, key: str, method: str, path: str, allowed: str
) -> None:
    request = {"httpMethod": method, "path": path}
    answer = api.send(SUBMIT, key, **request)
    assert (answer.status, answer.headers["Allow"]) == (405, allowed)
    if method != "HEAD":
        body = assert_refused(answer, 405, "METHOD_NOT_ALLOWED")
        assert body["details"] == {"allowed": allowed.split(", ")}
        assert_refused(api.send(SUBMIT, None, **request), 401, "AUTH_REQUIRED")


@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\0", "\x1f", "\x7f", "\x85", "\x9f"])
@pytest.mark.parametrize("path", ["/api/v1/crawl/job_1{}", "/api/v1/crawl/{}job_1", "/health{}"])
def test_a_path_with_a_control_character_is_no_route(
    api: Api, key: str, path: str, character: str
) -> None:
    request = {"httpMethod": "GET", "path": path.format(character)}
    refused = api.send(GET, key, **request)
    assert_refused(refused, 404, "NOT_FOUND")
    assert refused.text == api.send(GET, key, path="/api/v1/nothing").text
    assert_refused(api.send(GET, None, **request), 401, "AUTH_REQUIRED")
