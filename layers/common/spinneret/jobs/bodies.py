"""The free-form values that a job's row holds: JSON, and not too large for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.errors import ResultRefused, ValidationFailed


def check_payload(payload: Mapping[str, Any]) -> None:
    """Raises ValidationFailed."""
    reason = _unfit(payload, bounds.JOB_PAYLOAD_BYTES)
    if reason is not None:
        raise ValidationFailed(f"the job's payload {reason}")


def check_result(result: Mapping[str, Any]) -> None:
    """Raises ResultRefused: a handler's fault, which another attempt would only repeat."""
    reason = _unfit(result, bounds.JOB_RESULT_BYTES)
    if reason is not None:
        raise ResultRefused(f"the job's result {reason}")


def _unfit(value: Mapping[str, Any], most: int) -> str | None:
    """Why it can't be stored."""
    if not isinstance(value, Mapping):
        return "isn't an object"
    try:
        size = len(json_text(value).encode())
    except ValidationFailed:
        return "isn't JSON"
    return f"has {size} bytes of JSON, over {most}" if size > most else None
