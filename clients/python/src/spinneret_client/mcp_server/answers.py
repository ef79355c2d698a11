"""Answers of tools, with a bounded size, and errors as messages for a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from spinneret_client import errors
from spinneret_client.cli.output import plain_of

MOST_BYTES: Final = 60_000
"""Bytes of 15,000 tokens of four bytes; hosts cut longer answers anywhere."""
USUAL_BYTES: Final = 10_000
"""Bytes of 2,500 tokens, the size of a list or slice unless the model requests more."""

Result = TypeVar("Result")


def bounded_items(
    items: Iterable[Any],
    fields: Mapping[str, Any] | None = None,
    *,
    total: int | None = None,
    next_cursor: str | None = None,
) -> dict[str, Any]:
    """Return the fields and as many whole items as fit; `truncated` is true if some are missing."""
    taken: list[Any] = []
    size, truncated = 0, False
    for each in items:
        item = plain_of(each)
        size += len(json.dumps(item, ensure_ascii=False).encode())
        if size > USUAL_BYTES and taken:
            truncated = True
            break
        taken.append(item)
    answer = {**(fields or {}), "items": taken, "truncated": truncated}
    if total is not None:
        answer["total"] = total
    if next_cursor is not None and not truncated:
        answer["next_cursor"] = next_cursor
    return answer


def sliced(text: str, offset: int, most_bytes: int) -> dict[str, Any]:
    """Return a slice of a page's untrusted text, and the offset of the next slice."""
    part = text[offset : offset + most_bytes]
    # The size counts in JSON, where a quote or a line end takes two bytes.
    while (size := len(json.dumps(part, ensure_ascii=False).encode()) - 2) > most_bytes:
        part = part[: len(part) * most_bytes // size]
    end = offset + len(part)
    return {
        "untrusted_text": part,
        "offset": offset,
        "total_chars": len(text),
        "next_offset": end if end < len(text) else None,
    }


def guarded(call: Callable[[], Result]) -> Result:
    """Return the call's result. Raises ToolError with cause, retry and next step as its text."""
    try:
        return call()
    except errors.SpinneretError as error:
        raise ToolError(json.dumps(described(error), ensure_ascii=False)) from error


def described(error: errors.SpinneretError) -> dict[str, Any]:
    """Return an error as fields for a model."""
    described: dict[str, Any] = {"error": str(error), "retryable": False}
    if isinstance(error, errors.ApiError):
        described["code"] = error.code
        described["arguments"] = [
            f"{field}: {fault}" if fault else field for field, fault in error.fields
        ]
    if isinstance(error, (errors.ConnectionFailed, errors.RateLimited, errors.ServerError)):
        described["retryable"] = True
    described["next_step"] = _next_step(error)
    return described


def misused(error: ValidationError) -> dict[str, Any]:
    """Return the errors of invalid arguments as fields for a model, without the values."""
    faults = [
        f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False)
    ]
    return {
        "error": "invalid arguments",
        "retryable": False,
        "arguments": faults,
        "next_step": _CORRECT,
    }


def _next_step(error: errors.SpinneretError) -> str:
    if (
        isinstance(error, (errors.RateLimited, errors.Unavailable))
        and error.retry_after is not None
    ):
        return f"try again in {error.retry_after:.0f} seconds"
    steps = (text for kind, text in _STEPS if isinstance(error, kind))
    return next(steps, _CORRECT)


_CORRECT: Final = "correct the arguments"
_STEPS: Final[tuple[tuple[type[errors.SpinneretError], str], ...]] = (
    (errors.AuthRequired, "ask the user to run `spinneret login`"),
    (errors.NotConfigured, "ask the user to run `spinneret login`"),
    (errors.ConnectionFailed, "try again later"),
    (errors.ServerError, "try again later"),
    (errors.UnexpectedResponse, "ask the user to check the address and proxy of the API"),
    (errors.NotFound, "check the id; list or search to find another one"),
    (errors.UrlRefused, "use a public http or https address"),
    (errors.Forbidden, "ask the user for a key with this permission"),
)
