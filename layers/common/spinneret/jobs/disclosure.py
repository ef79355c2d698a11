"""Errors and events as tenants see them: without secrets, and bounded in size."""

import json
import math
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from spinneret.jobs import limits
from spinneret.jobs.models import Failure
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    PermanentError,
    TransientError,
)
from spinneret.kernel.unicode import storable
from spinneret.redaction import redact, redact_text

_DEPTH: Final = 20  # maximum nesting of details; deeper values are replaced by their type's name
_INT_BITS: Final = 1024


def safe_text(text: str) -> str:
    """Return a text for events and failures: redacted, UTF-8, at most EVENT_MESSAGE_CHARS."""
    return storable(redact_text(text))[: bounds.EVENT_MESSAGE_CHARS]


def safe_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return data for events and failures: redacted JSON; only its size if over EVENT_DATA_BYTES.

    Handlers and libraries may attach any value; a value that JSON can't represent is replaced by
    its type's name.
    """
    clean = _object(redact(dict(data)), _DEPTH)
    size = len(json.dumps(clean))
    return clean if size <= limits.EVENT_DATA_BYTES else {"omitted_bytes": size}


def _json(value: Any, depth: int) -> Any:
    match value:
        case dict() if depth:
            return _object(value, depth)
        case list() | tuple() if depth:
            return [_json(each, depth - 1) for each in value]
        case _:
            return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return storable(value)
        case float() if math.isfinite(value):
            return float(value)
        case int() if value.bit_length() <= _INT_BITS:
            return int(value)
        case float() | datetime() | date() | Decimal() | UUID():
            return str(value)
        case _:
            return f"<{type(value).__name__}>"


def _object(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    return {
        storable(key) if isinstance(key, str) else str(_scalar(key)): _json(each, depth - 1)
        for key, each in value.items()
    }


def failure_of(error: Exception) -> Failure:
    """Return an error as the tenant sees it."""
    if not isinstance(error, DomainError):
        return Failure(
            code="INTERNAL_ERROR", message=type(error).__name__, type="internal", details={}
        )
    match error:
        case DependencyUnavailable():
            kind = "dependency"
        case TransientError():
            kind = "transient"
        case PermanentError():
            kind = "permanent"
        case _:
            kind = "internal"
    return Failure(
        code=error.code,
        message=safe_text(error.message),
        type=kind,
        details=safe_data(error.details),
    )
