"""Calls of the DevTools protocol, with the errors of the tree."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from typing import Final

from cdp_use.client import CDPClient
from websockets.exceptions import WebSocketException

from spinneret.kernel.errors import BrowserFailed
from spinneret.web.browser import limits
from spinneret.web.browser.watch import Watch

# Outputs come in base64 within JSON.
MESSAGE_MAX_BYTES: Final = limits.OUTPUT_MAX_BYTES * 4 // 3 + 1024 * 1024
_TOO_BIG: Final = 1009  # RFC 6455, section 7.4.1


class CommandRefused(Exception):
    """The browser answered a command with an error, such as for a document that is gone."""


class DevTools:
    """A connection to one browser."""

    def __init__(self, cdp: CDPClient, watch: Watch) -> None:
        self._cdp = cdp
        self._watch = watch
        self.send: Final = cdp.send
        self.on: Final = cdp.register

    async def ask[T](self, command: Awaitable[T]) -> T:
        """Return the answer to a command of `send`.

        Raises CommandRefused, PageTooLarge for an answer beyond MESSAGE_MAX_BYTES, BrowserFailed.
        """
        try:
            return await command
        except RuntimeError as error:
            raise CommandRefused(str(error)) from error
        except (OSError, WebSocketException) as error:
            if self._refused_an_answer():
                raise self._watch.too_large("gives a result that is too large") from error
            raise BrowserFailed("the browser ended") from error

    def _refused_an_answer(self) -> bool:
        """Whether the connection was closed from here because an answer was too large."""
        socket = self._cdp.ws
        closed = socket.protocol.close_exc if socket is not None and socket.close_code else None
        return closed is not None and closed.sent is not None and closed.sent.code == _TOO_BIG


@asynccontextmanager
async def connected(url: str, watch: Watch) -> AsyncIterator[DevTools]:
    """Connect to the browser at a WebSocket URL."""
    cdp = CDPClient(url, max_ws_frame_size=MESSAGE_MAX_BYTES)
    devtools = DevTools(cdp, watch)
    await devtools.ask(cdp.start())  # type: ignore[no-untyped-call]  # cdp-use's
    try:
        yield devtools
    finally:
        with suppress(OSError, WebSocketException):
            await cdp.stop()  # type: ignore[no-untyped-call]  # cdp-use's
