"""The common format of error responses."""

from typing import Any

from tests.unit.runtime.api import SUBMIT, Answer, load

JSON = "application/json"


def assert_refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    """Require an error response in the common format, and return its body."""
    assert (answer.status, answer.headers["Content-Type"]) == (status, JSON), answer.text
    body: dict[str, Any] = answer.body
    assert set(body) == {"error", "code", "details", "request_id"}
    assert body["code"] == code
    assert body["request_id"] == load(SUBMIT)["requestContext"]["requestId"]
    assert isinstance(body["error"], str)
    assert isinstance(body["details"], dict)
    assert "field" not in body["details"]
    for each in body["details"].get("fields", []):
        assert {"path", "message", "hint"} <= set(each), each
    return body


def fields_of(body: dict[str, Any]) -> list[str]:
    return [each["path"] for each in body["details"]["fields"]]
