"""Bodies of ``/embed`` and ``/tokenize``, read as strictly as TEI reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from spinneret_embedder.errors import (
    EmbeddingError,
    ErrorType,
    UnreadableRequestError,
    empty_input,
)
from spinneret_embedder.limits import MAX_CLIENT_BATCH_SIZE, PAYLOAD_LIMIT_BYTES

if TYPE_CHECKING:
    from starlette.requests import Request

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


async def read_embed_request(request: Request) -> EmbedRequest:
    """Read ``{inputs, normalize = true, truncate = false}``.

    Raises:
        UnreadableRequestError: 400, 413, 415 or 422, as TEI's JSON extractor answers.
        EmbeddingError: ``inputs`` is empty or longer than the client batch limit.
    """
    body = _parse_object(await _read_body(request))
    _refuse_options(body)
    return EmbedRequest(
        inputs=_inputs(body),
        normalize=_flag(body, "normalize", default=True),
        # TEI reads null as "the server's default" for this option alone.
        truncate=body.get("truncate") is not None and _flag(body, "truncate", default=False),
    )


async def read_tokenize_request(request: Request) -> TokenizeRequest:
    """Read ``{inputs, add_special_tokens = true}``; raises as ``read_embed_request``."""
    body = _parse_object(await _read_body(request))
    _refuse_options(body)
    return TokenizeRequest(
        inputs=_inputs(body),
        add_special_tokens=_flag(body, "add_special_tokens", default=True),
    )


async def _read_body(request: Request) -> bytes:
    """Read the body: 415 without a JSON content type, 413 above the payload limit."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnreadableRequestError(415, "Expected request with `Content-Type: application/json`")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > PAYLOAD_LIMIT_BYTES:
            raise UnreadableRequestError(
                413, "Failed to buffer the request body: length limit exceeded"
            )
    return bytes(body)


def _parse_object(body: bytes) -> dict[str, Any]:
    """Parse the body: 400 when it is not JSON, 422 when it is no object."""
    try:
        value = json.loads(body.decode("utf-8"))
        # An escaped lone surrogate passes Python's parser but is no text.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        message = f"Failed to parse the request body as JSON: {error}"
        raise UnreadableRequestError(400, message) from error
    if not isinstance(value, dict):
        raise _mismatch("expected an object")
    return value


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
