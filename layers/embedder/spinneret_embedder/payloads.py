"""Requests of ``/embed`` and ``/tokenize``, understood as strictly as TEI understands them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from spinneret_embedder.errors import (
    EmbeddingError,
    ErrorType,
    UnreadableRequestError,
    empty_input,
)
from spinneret_embedder.limits import MAX_CLIENT_BATCH_SIZE

# Options of TEI that change the result and are not implemented here. Null means "not given", and
# "Right" is what this server does anyway; any other value is refused rather than ignored.
_NEUTRAL_OPTIONS: Final = {"prompt_name": None, "dimensions": None, "truncation_direction": "Right"}


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    inputs: tuple[str, ...]
    normalize: bool
    truncate: bool


@dataclass(frozen=True, slots=True)
class TokenizeRequest:
    inputs: tuple[str, ...]
    add_special_tokens: bool


def embed_request(body: Any) -> EmbedRequest:
    """Read ``{inputs, normalize = true, truncate = false}``.

    Raises:
        UnreadableRequestError: 422, not of this shape.
        EmbeddingError: ``inputs`` is empty or longer than the client batch limit.
    """
    fields = _object(body)
    _refuse_options(fields)
    return EmbedRequest(
        inputs=_inputs(fields),
        normalize=_flag(fields, "normalize", default=True),
        # TEI reads null as "the server's default" for this option alone.
        truncate=fields.get("truncate") is not None and _flag(fields, "truncate", default=False),
    )


def tokenize_request(body: Any) -> TokenizeRequest:
    """Read ``{inputs, add_special_tokens = true}``; raises as ``embed_request``."""
    fields = _object(body)
    _refuse_options(fields)
    return TokenizeRequest(
        inputs=_inputs(fields),
        add_special_tokens=_flag(fields, "add_special_tokens", default=True),
    )


def parsed(body: bytes) -> Any:
    """Parse a body.

    Raises:
        UnreadableRequestError: 400, not JSON.
    """
    try:
        value = json.loads(body.decode("utf-8"))
        # An escaped lone surrogate passes Python's parser but is no text.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        message = f"Failed to parse the request body as JSON: {error}"
        raise UnreadableRequestError(400, message) from error
    return value


def _object(body: Any) -> dict[str, Any]:
    if not isinstance(body, dict):
        raise _mismatch("expected an object")
    return body


def _mismatch(reason: str) -> UnreadableRequestError:
    """Return the 422 of a JSON body that does not have the route's shape."""
    message = f"Failed to deserialize the JSON body into the target type: {reason}"
    return UnreadableRequestError(422, message)


def _refuse_options(body: dict[str, Any]) -> None:
    for name, neutral in _NEUTRAL_OPTIONS.items():
        if body.get(name) not in (None, neutral):
            raise _mismatch(f"`{name}` is not supported")


def _inputs(body: dict[str, Any]) -> tuple[str, ...]:
    inputs = body.get("inputs")
    texts = [inputs] if isinstance(inputs, str) else inputs
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _mismatch("`inputs` must be a string or a list of strings")
    if not all(texts) or not texts:
        raise empty_input()
    if len(texts) > MAX_CLIENT_BATCH_SIZE:
        raise EmbeddingError(
            ErrorType.VALIDATION,
            f"batch size {len(texts)} > maximum allowed batch size {MAX_CLIENT_BATCH_SIZE}",
        )
    return tuple(texts)


def _flag(body: dict[str, Any], name: str, *, default: bool) -> bool:
    value = body.get(name, default)
    if not isinstance(value, bool):
        raise _mismatch(f"`{name}` must be a boolean")
    return value
