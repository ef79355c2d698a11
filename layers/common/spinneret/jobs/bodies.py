"""Checks of the free-form values that are stored: they must be JSON and within a size limit."""

from collections.abc import Mapping
from typing import Any

from spinneret.jobs import limits
from spinneret.kernel.canonical import json_text
from spinneret.kernel.errors import ResultRefused, ValidationFailed


def check_payload(payload: Mapping[str, Any]) -> None:
    """Check a job's payload. Raises ValidationFailed."""
    reason = _unfit(payload, limits.JOB_PAYLOAD_BYTES)
    if reason is not None:
        raise ValidationFailed.of_field("body", f"the job's payload {reason}")


def check_result(result: Mapping[str, Any]) -> None:
    """Check a job's result. Raises ResultRefused: the handler is at fault, and another attempt
    would fail again.
    """
    reason = _unfit(result, limits.JOB_RESULT_BYTES)
    if reason is not None:
        raise ResultRefused(f"the job's result {reason}")


def check_reply(reply: Mapping[str, Any]) -> None:
    """Check a reply that is stored for its Idempotency-Key. Raises ValidationFailed."""
    reason = _unfit(reply, limits.JOB_REPLY_BYTES)
    if reason is not None:
        raise ValidationFailed.of_field(
            "body", f"the answer {reason}", "send less in one request, or no Idempotency-Key"
        )


def _unfit(value: Mapping[str, Any], most: int) -> str | None:
    """Return why the value can't be stored, or None if it can."""
    if not isinstance(value, Mapping):
        return "isn't an object"
    try:
        size = len(json_text(value).encode())
    except ValidationFailed:
        return "isn't JSON"
    return f"has {size} bytes of JSON, over {most}" if size > most else None
