"""What a tenant may know of a job's way: without secrets, and bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spinneret.jobs.models import Failure
from spinneret.kernel import limits
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    PermanentError,
    TransientError,
)
from spinneret.redaction import redact, redact_text


def told(text: str) -> str:
    """A text as events and failures tell it: without secrets, and bounded."""
    return redact_text(text)[: limits.EVENT_MESSAGE_CHARS]


def told_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data as events and failures tell them: without secrets; left out where they are too large."""
    clean: dict[str, Any] = redact(dict(data))
    size = len(json.dumps(clean, default=str))
    return clean if size <= limits.EVENT_DATA_BYTES else {"omitted_bytes": size}


def failure_of(error: Exception) -> Failure:
    """What a tenant may know of an error."""
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
        code=error.code, message=told(error.message), type=kind, details=told_data(error.details)
    )
