"""Check that the API's document lists a response."""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from spinneret.runtime.openapi import page as docs
from tests.routes import TABLE

Described = dict[str, Any]


def assert_documented(
    method: str, path: str, status: int, headers: Mapping[str, str], text: str
) -> None:
    """Require that an operation's status, error code, headers and body are documented.

    Responses of unknown routes belong to no operation, so they aren't checked.
    """
    row = TABLE.find(method, path)
    if row is None:
        return
    where = f"{method} {row.route} answers {status}: run python docs/render.py, or declare it"
    operation = _document()["paths"][re.sub("<(.+?)>", r"{\1}", row.route)][method.lower()]
    assert str(status) in operation["responses"], f"{where} {text[:200]}"
    response = _resolved(operation["responses"][str(status)])
    shared = {name for name in headers if name in _document()["components"]["headers"]}
    assert shared <= set(response.get("headers", {})), where
    content = response.get("content", {})
    if not text:
        return
    media_type = headers["Content-Type"].partition(";")[0]
    assert media_type in content, where
    if media_type == "application/json":
        body = json.loads(text)
        schema = content[media_type]["schema"]
        problems = [error.message for error in validator(schema).iter_errors(body)]
        assert problems == [], where
        if schema == {"$ref": "#/components/schemas/Error"}:
            assert f"`{body['code']}`" in response["description"], where


def validator(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return a validator for a schema of the document that resolves references to the document."""
    return Draft202012Validator({**schema, "components": _document()["components"]})


@cache
def _document() -> Described:
    parsed: Described = json.loads(docs.document().text)
    return parsed


def _resolved(response: Described) -> Described:
    if "$ref" not in response:
        return response
    found: Described = _document()["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return found
