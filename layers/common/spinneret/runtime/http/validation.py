"""Validation errors of a request, field by field, in our own wording.

The validation library's wording changes with its releases and refers to its types ("Tuple should
have at most 20 items after validation"). Values are never repeated: they may be secrets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError

from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.kernel.hints import nearest

# By the library's error types (pydantic, "Validation Errors"); `{…}` come from the error's context.
_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is required",
    "extra_forbidden": "is unknown",
    "string_type": "must be a text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match `{pattern}`",
    "string_unicode": "must not have a lone surrogate",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
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
_TOO_SHORT: Final = frozenset({"string_too_short", "too_short"})
_UNKNOWN: Final = "extra_forbidden"
_OTHER: Final = "isn't valid"
_OWN: Final = "value_error"
"""Error type of our own validators, whose messages and hints are used unchanged."""
_FIELDS_SHOWN: Final = 100  # a body of 5 MB may have half a million wrong fields


def invalid(error: RequestValidationError | ValidationError, model: Any = None) -> ValidationFailed:
    """Return the error for a request, or part of one, that its route's signature refuses.

    `model` is the type of the body, whose fields hints name.
    """
    fields = []
    for each in error.errors()[:_FIELDS_SHOWN]:
        place = [part for part in each["loc"] if part != "body"]
        path = ".".join(map(str, place)) or "body"
        hint = (each.get("ctx") or {}).get("hint")
        if each["type"] == _UNKNOWN and place:
            hint = nearest(str(place[-1]), field_names(model, place[:-1]))
        fields.append(field_error(path, _message(each), hint))
    return ValidationFailed(
        f"invalid: {', '.join(field['path'] for field in fields)}", details={"fields": fields}
    )


def refuse_unknown(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise ValidationFailed for query parameters that the route doesn't have.

    If they were ignored, the answer would be to a different question.
    """
    fields = [
        field_error(name, "is unknown", nearest(name, known))
        for name in sorted(set(given) - set(known))
    ]
    if fields:
        raise ValidationFailed(
            f"unknown: {', '.join(field['path'] for field in fields)}", details={"fields": fields}
        )


def field_names(model: Any, place: Sequence[str | int]) -> list[str]:
    """Return names and aliases of the fields at a place of a type; [] if it has no model there."""
    models = list(_models(model))
    for part in place:
        inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if inner:  # else a list's index or the name of a union's alternative
            models = [each for annotation in inner for each in _models(annotation)]
    found = [(name, field.alias) for each in models for name, field in each.model_fields.items()]
    return list(dict.fromkeys(name for names in found for name in names if name))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a type such as `list[A] | B`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


def _message(error: Mapping[str, Any]) -> str:
    context = error.get("ctx") or {}
    if error["type"] == _OWN and "error" in context:
        return str(context["error"])
    if error["type"] in _TOO_SHORT and context.get("min_length") == 1:
        return "must not be empty"
    try:
        return _MESSAGES.get(error["type"], _OTHER).format_map(context)
    except KeyError:  # a release of the library with less context
        return _OTHER
