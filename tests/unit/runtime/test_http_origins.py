"""Browser pages may call the API only from the allowed origins."""

from collections.abc import Mapping

import pytest

from spinneret.runtime.http.origins import cors_headers, is_loopback, preflight
from tests.unit.runtime.api import ALLOWED_ORIGIN, GET, QUERY, Api

ALLOWED = frozenset({ALLOWED_ORIGIN, "http://localhost:5173"})
ASKS = {"Access-Control-Request-Method": "POST", "X-Api-Key": None}
FOREIGN = (
    *("null", "*", "https://evil.example", f"{ALLOWED_ORIGIN}.evil.example"),
    *(f"{ALLOWED_ORIGIN}/", f"{ALLOWED_ORIGIN}:8443", ALLOWED_ORIGIN.replace("https", "http")),
)


# covers T-02
def test_an_allowed_page_reads_answers_and_refusals(api: Api) -> None:
    for key, status in ((api.key(), 404), (None, 401)):
        answer = api.send(GET, key, headers={"Origin": ALLOWED_ORIGIN})
        assert answer.status == status
        assert answer.headers["Access-Control-Allow-Origin"] == ALLOWED_ORIGIN
        assert answer.headers["Access-Control-Allow-Credentials"] == "true"
        assert "RateLimit-Remaining" in answer.headers["Access-Control-Expose-Headers"]
        assert answer.headers["Vary"] == "Origin"


# covers T-02
@pytest.mark.parametrize("origin", [None, *FOREIGN])
def test_no_other_page_reads_an_answer(api: Api, origin: str | None) -> None:
    answer = api.send(GET, api.key(), headers={"Origin": origin})
    assert answer.headers["Vary"] == "Origin"
    assert [name for name in answer.headers if name.startswith("Access-Control")] == []
    asked = api.send(QUERY, httpMethod="OPTIONS", headers={"Origin": origin, **ASKS})
    assert (asked.status, "Access-Control-Allow-Methods" in asked.headers) == (401, False)


# covers T-02
def test_a_preflight_needs_no_credential(api: Api) -> None:
    asked = api.send(QUERY, httpMethod="OPTIONS", headers={"Origin": ALLOWED_ORIGIN, **ASKS})
    assert (asked.status, asked.text) == (204, "")
    assert asked.headers["Access-Control-Allow-Methods"] == "POST"
    assert asked.headers["Access-Control-Allow-Origin"] == ALLOWED_ORIGIN
    allowed = asked.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key", "x-api-key"} <= set(allowed)


@pytest.mark.parametrize(
    ("method", "headers", "methods"),
    [
        ("GET", {"origin": ALLOWED_ORIGIN, "access-control-request-method": "GET"}, ("GET",)),
        ("OPTIONS", {"origin": ALLOWED_ORIGIN}, ("GET",)),
        ("OPTIONS", {"origin": ALLOWED_ORIGIN, "access-control-request-method": "GET"}, ()),
        ("OPTIONS", {"access-control-request-method": "GET"}, ("GET",)),
    ],
)
def test_any_other_request_is_no_preflight(
    method: str, headers: Mapping[str, str], methods: tuple[str, ...]
) -> None:
    assert preflight(method, headers, ALLOWED, methods) is None


def test_without_allowed_origins_answers_are_as_before() -> None:
    assert cors_headers({"origin": ALLOWED_ORIGIN}, frozenset()) == {}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *((each, True) for each in ("localhost", "LOCALHOST:80", "a.localhost:4566")),
        *((each, True) for each in ("127.0.0.1", "127.9.9.9:4566", "[::1]:4566", "[::1]")),
        *((each, False) for each in ("", "localhost.evil.example", "127.0.0.1.evil.example")),
        *((each, False) for each in ("evil-localhost", "10.0.0.1", "[::2]", "localhost:x", "::1")),
    ],
)
def test_loopback_is_this_machine_by_name_or_address(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
