"""Validation errors of a request, field by field, in our own wording.

The validation library's wording changes with its releases and refers to its types ("Tuple should
have at most 20 items after validation"). Values are never repeated: they may be secrets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic import ValidationError

from spinneret.kernel.errors import ValidationFailed

# By the library's error types (pydantic, "Validation Errors"); `{…}` come from the error's context.
_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is unknown",
    "string_type": "must be a text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "doesn't have the right form",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "frozen_set_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "enum": "must be one of {expected}",
    "literal_error": "must be one of {expected}",
    "datetime_type": "must be a moment in RFC 3339",
    "datetime_parsing": "must be a moment in RFC 3339",
    "datetime_from_date_parsing": "must be a moment in RFC 3339",
    "timezone_aware": "must have a time zone",
    "none_required": "must be null",
    "json_invalid": "must be JSON",
}
_OTHER: Final = "isn't valid"
_OWN: Final = "value_error"
"""Error type of our own validators, whose messages are used unchanged."""


def invalid(error: RequestValidationError | ValidationError) -> ValidationFailed:
    """Return the error for a request, or part of one, that its route's signature refuses."""
    fields = [
        {
            "field": ".".join(str(part) for part in each["loc"] if part != "body") or "body",
            "message": _message(each),
        }
        for each in error.errors()
    ]
    return ValidationFailed(
        f"invalid: {', '.join(field['field'] for field in fields)}", details={"fields": fields}
    )


def refuse_unknown(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise ValidationFailed for query parameters that the route doesn't have.

    If they were ignored, the answer would be to a different question.
    """
    fields = [{"field": name, "message": "is unknown"} for name in sorted(set(given) - set(known))]
    if fields:
        raise ValidationFailed(
            f"unknown: {', '.join(field['field'] for field in fields)}", details={"fields": fields}
        )


def _message(error: Mapping[str, Any]) -> str:
    context = error.get("ctx") or {}
    if error["type"] == _OWN and "error" in context:
        return str(context["error"])
    try:
        return _MESSAGES.get(error["type"], _OTHER).format_map(context)
    except KeyError:  # a release of the library with less context
        return _OTHER
