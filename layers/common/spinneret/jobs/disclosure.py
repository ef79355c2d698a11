"""What a tenant may see of errors and events: without secrets, and bounded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spinneret.jobs.models import Failure
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    DependencyUnavailable,
    DomainError,
    PermanentError,
    TransientError,
)
from spinneret.kernel.redaction import redact, redact_text


def safe_text(text: str) -> str:
    """A text for events and failures: redacted, at most EVENT_MESSAGE_CHARS."""
    return redact_text(text)[: bounds.EVENT_MESSAGE_CHARS]


def safe_data(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data for events and failures: redacted; over EVENT_DATA_BYTES only their size."""
    clean: dict[str, Any] = redact(dict(data))
    size = len(json.dumps(clean, default=str))
    return clean if size <= bounds.EVENT_DATA_BYTES else {"omitted_bytes": size}


def failure_of(error: Exception) -> Failure:
    """An error as its tenant sees it."""
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
