"""API Gateway's own error responses have the API's error format and codes of the error tree."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from spinneret.kernel import errors
from spinneret.kernel.errors import DomainError
from tests.architecture.conftest import Templates
from tests.architecture.test_openapi import STORED

REQUEST_ID = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"
TREE = {
    (each.status, each.code)
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, DomainError)
}
# Status and code that callers get for each type of gateway response.
MEANINGS = {
    "MISSING_AUTHENTICATION_TOKEN": (404, "NOT_FOUND"),
    "RESOURCE_NOT_FOUND": (404, "NOT_FOUND"),
    "INVALID_SIGNATURE": (404, "NOT_FOUND"),
    "EXPIRED_TOKEN": (404, "NOT_FOUND"),
    "ACCESS_DENIED": (403, "FORBIDDEN"),
    "WAF_FILTERED": (403, "FORBIDDEN"),
    "REQUEST_TOO_LARGE": (413, "BODY_TOO_LARGE"),
    "THROTTLED": (429, "RATE_LIMITED"),
    "QUOTA_EXCEEDED": (429, "RATE_LIMITED"),
    "INTEGRATION_TIMEOUT": (503, "DEPENDENCY_UNAVAILABLE"),
    "INTEGRATION_FAILURE": (503, "DEPENDENCY_UNAVAILABLE"),
    "DEFAULT_4XX": (422, "VALIDATION_ERROR"),
    "DEFAULT_5XX": (500, "INTERNAL_ERROR"),
}


@pytest.fixture(scope="module")
def responses(templates: Templates) -> dict[str, dict[str, Any]]:
    """Provide the gateway responses of the only API, by type."""
    [api] = templates.resources("AWS::Serverless::Api").values()
    found: dict[str, dict[str, Any]] = api["Properties"]["GatewayResponses"]
    return found


def test_every_answer_of_the_gateway_is_ours(responses: dict[str, dict[str, Any]]) -> None:
    given = {
        name: (int(each["StatusCode"]), body_of(each)["code"]) for name, each in responses.items()
    }
    assert given == MEANINGS
    assert set(given.values()) <= TREE


# covers P-15
@pytest.mark.parametrize("name", MEANINGS)
def test_its_body_has_the_one_shape(responses: dict[str, dict[str, Any]], name: str) -> None:
    schema = json.loads(STORED.read_text())["components"]["schemas"]["Error"]
    body = body_of(responses[name])
    assert [error.message for error in Draft202012Validator(schema).iter_errors(body)] == []
    assert body["request_id"] == REQUEST_ID


def test_who_is_refused_for_a_rate_is_told_when_to_come_again(
    responses: dict[str, dict[str, Any]],
) -> None:
    for name, each in responses.items():
        headers = each.get("ResponseParameters", {}).get("Headers", {})
        # API Gateway requires single quotes around a literal.
        told = headers.get("Retry-After", "''").strip("'")
        assert told.isdecimal() == (int(each["StatusCode"]) == 429), name


def body_of(response: dict[str, Any]) -> dict[str, Any]:
    """Return the body that a response's only template renders."""
    [(content_type, template)] = response["ResponseTemplates"].items()
    assert content_type == "application/json"
    body: dict[str, Any] = json.loads(template.replace("$context.requestId", REQUEST_ID))
    assert "$" not in json.dumps(body), "a variable may hold what breaks the JSON"
    return body
