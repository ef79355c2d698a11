"""Bases of the generated resources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from spinneret_client.errors import ConfigurationError
from spinneret_client.model import Listed
from spinneret_client.paging import AsyncPages, Pages
from spinneret_client.transport import AsyncTransport, Transport, new_call, parsed


class _Base:
    """Methods of a resource on either transport; on an async one they return awaitables."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport

    def _send(self, reply: Any, method: str, path: str, **options: Any) -> Any:
        call = new_call(method, path, **options)
        if isinstance(self._transport, AsyncTransport):
            return self._awaited(reply, call)
        return parsed(reply, self._transport.send(call))

    async def _awaited(self, reply: Any, call: Any) -> Any:
        return parsed(reply, await self._transport.send(call))

    def _pages(self, item: Any, path: str, *, query: Mapping[str, Any]) -> Any:
        filters = dict(query)
        max_items = filters.pop("max_items", None)
        kind = AsyncPages if isinstance(self._transport, AsyncTransport) else Pages
        return kind(
            lambda cursor: self._send(
                Listed[item], "GET", path, query={**filters, "cursor": cursor}
            ),
            max_items,
        )


class Resource(_Base):
    """Methods that block."""

    _transport: Transport


class AsyncResource(_Base):
    """Methods that are awaited."""

    _transport: AsyncTransport


def part(value: str) -> str:
    """Return an id as one part of a path. Raises ConfigurationError if it is empty."""
    if not value or value in (".", ".."):
        raise ConfigurationError("an id in the path must not be empty")
    return quote(value, safe="")
