"""The first reason for which a rendering ends early, and the counts that lead to one."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from spinneret.kernel.errors import PageTooLarge
from spinneret.web.browser import limits


class Watch:
    """Ends a rendering at its first breach; made and used within one event loop."""

    def __init__(self, host: str) -> None:
        """`host` is the requested URL's, the only one that messages name."""
        self.host = host
        self.requests = 0
        self.bytes = 0
        self._frames = 0
        self._breached = asyncio.Event()
        self._breach: BaseException | None = None
        self._has_ended = False
        self._tasks: set[asyncio.Task[None]] = set()

    def fail(self, error: BaseException) -> None:
        """End the rendering with this error, unless another came first or it has ended."""
        if self._breach is None and not self._has_ended:
            self._breach = error
            self._breached.set()

    def end(self) -> None:
        """Note that the rendering has ended: later failures only follow from that."""
        self._has_ended = True

    async def hold[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work; at a breach, cancel it and raise the breach."""
        task = asyncio.ensure_future(work)
        breach = asyncio.ensure_future(self._breached.wait())
        try:
            await asyncio.wait({task, breach}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in (task, breach, *self._tasks):
                each.cancel()
            await asyncio.gather(task, breach, *self._tasks, return_exceptions=True)
        if self._breach is not None:
            raise self._breach
        return task.result()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the work until the held one ends; its error is a breach."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.fail(error)

    def count_bytes(self, number: int) -> None:
        """Count bytes that the page received or sent."""
        self.bytes += number
        self._require(self.bytes, limits.RENDER_MAX_BYTES, "bytes")

    def count_request(self) -> None:
        """Count a request of the page."""
        self.requests += 1
        self._require(self.requests, limits.RENDER_MAX_REQUESTS, "requests")

    def count_frame(self) -> None:
        """Count a frame of the page."""
        self._frames += 1
        self._require(self._frames, limits.RENDER_MAX_FRAMES, "frames")

    def _require(self, number: int, most: int, what: str) -> None:
        if number > most:
            self.fail(self.too_large(f"takes more than {most} {what}"))

    def too_large(self, what: str) -> PageTooLarge:
        """Return the error for a page that does `what`."""
        return PageTooLarge(f"the page of {self.host} {what}")
