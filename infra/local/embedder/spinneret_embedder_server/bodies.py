"""Bodies of HTTP requests, read like TEI reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spinneret_embedder.errors import UnreadableRequestError
from spinneret_embedder.limits import PAYLOAD_LIMIT_BYTES
from spinneret_embedder.payloads import parsed

if TYPE_CHECKING:
    from starlette.requests import Request


async def read_body(request: Request) -> Any:
    """Read JSON.

    Raises:
        UnreadableRequestError: 415 without a JSON content type, 413 above the payload limit, 400.
    """
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
    return parsed(bytes(body))
