"""Our own wording of validation errors.

The validation library's wording changes with its releases and refers to its types ("Tuple should
have at most 20 items after validation"). Values are never repeated: they may be secrets.
"""

from collections.abc import Mapping
from typing import Any, Final

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
_OTHER: Final = "isn't valid"
_OWN: Final = "value_error"
"""Error type of our own validators, whose messages and hints are used unchanged."""


def message_of(error: Mapping[str, Any]) -> str:
    """Return the message for an entry of `pydantic.ValidationError.errors()`, with its context."""
    context = error.get("ctx") or {}
    if error["type"] == _OWN and "error" in context:
        return str(context["error"])
    if error["type"] in _TOO_SHORT and context.get("min_length") == 1:
        return "must not be empty"
    try:
        return _MESSAGES.get(error["type"], _OTHER).format_map(context)
    except KeyError:  # a release of the library with less context
        return _OTHER
