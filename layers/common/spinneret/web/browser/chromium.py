"""The browser's adapter: a headless Chromium for each page, over the DevTools protocol."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from spinneret.kernel.errors import (
    BrowserFailed,
    CallerDeadlineExceeded,
    DependencyUnavailable,
    DomainError,
    RenderTimeout,
)
from spinneret.web.browser import limits
from spinneret.web.browser.chromium_process import ChromiumProcess, running
from spinneret.web.browser.devtools import DevTools, connected
from spinneret.web.browser.documents import Documents
from spinneret.web.browser.egress import EgressProxy
from spinneret.web.browser.models import RenderedPage, RenderRequest, Screenshot
from spinneret.web.browser.page import BrowserPage
from spinneret.web.browser.tasks import Taker
from spinneret.web.browser.unpacking import is_packed, is_unpacked, unpack
from spinneret.web.browser.watch import Watch
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.rules import require_reachable

ANSWER_SECONDS: Final = 2.0  # for a browser whose page is late to show that it isn't stopped itself
MEMORY_POLL_SECONDS: Final = 0.25
THREADS: Final = 16  # for name resolution


@dataclass(frozen=True, kw_only=True)
class ChromiumBrowser:
    """Implements `Browser` with the Chromium of a folder."""

    folder: Path
    """The unpacked program, or the package, which is then unpacked into `scratch` at first use."""
    scratch: Path
    """Folder for profiles, which are wiped."""
    policy: AddressPolicy
    resolver: Resolver
    user_agent: str
    monotonic: Callable[[], float] = time.monotonic

    def render(self, request: RenderRequest) -> RenderedPage:
        """See `Browser.render`; not to be called within an event loop."""
        require_reachable(request.url, self.policy, "url")
        program = self._program()
        left = float("inf") if request.left_seconds is None else request.left_seconds()
        return asyncio.run(_Rendering(self, request, program, left).run())

    def _program(self) -> Path:
        """Return the folder of the unpacked program."""
        if is_unpacked(self.folder):
            return self.folder
        unpacked = self.scratch / "chromium"
        if is_unpacked(unpacked):
            return unpacked
        if not is_packed(self.folder):
            raise DependencyUnavailable("browser", "this stage has none")
        unpack(self.folder, unpacked)
        return unpacked


class _Rendering:
    """One rendering in progress."""

    def __init__(
        self, browser: ChromiumBrowser, request: RenderRequest, program: Path, left: float
    ) -> None:
        """`left` are the caller's remaining seconds."""
        self._browser = browser
        self._request = request
        self._program = program
        self._left = left
        self._began_at = browser.monotonic()
        self._watch = Watch(request.url.host)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="browser")
        self._egress = EgressProxy(browser.policy, browser.resolver, self._watch, self._threads)

    async def run(self) -> RenderedPage:
        try:
            return await self._watch.hold(self._rendered())
        finally:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _rendered(self) -> RenderedPage:
        ends_at = asyncio.get_running_loop().time() + min(self._request.total_seconds, self._left)
        async with self._launched() as devtools:
            try:
                async with asyncio.timeout_at(ends_at):
                    return await self._taken(devtools)
            except TimeoutError as error:
                raise await self._overrun(devtools) from error

    @asynccontextmanager
    async def _launched(self) -> AsyncIterator[DevTools]:
        """Start the browser behind its proxy; it ends with the block, before the connection."""
        browser = self._browser
        async with self._egress.listening() as port:
            arguments = (
                f"--proxy-server=http://127.0.0.1:{port}",
                f"--user-agent={browser.user_agent}",
            )
            with running(self._program, browser.scratch, arguments) as process:
                self._watch.spawn(self._watch_memory(process))
                async with connected(await process.devtools_url(), self._watch) as devtools:
                    try:
                        yield devtools
                    finally:
                        self._watch.end()
                        process.end()

    async def _watch_memory(self, process: ChromiumProcess) -> None:
        while True:
            if process.memory_bytes() > limits.BROWSER_MEMORY_BYTES:
                megabytes = limits.BROWSER_MEMORY_BYTES // 1024**2
                self._watch.fail(self._watch.too_large(f"takes more than {megabytes} MB of memory"))
                return
            await asyncio.sleep(MEMORY_POLL_SECONDS)

    async def _taken(self, devtools: DevTools) -> RenderedPage:
        request = self._request
        page = await self._page(devtools)
        documents = Documents(
            devtools=devtools,
            watch=self._watch,
            egress=self._egress,
            policy=self._browser.policy,
            threads=self._threads,
            before_document=request.before_document,
            frame=page.frame,
        )
        await page.set_up(documents, request.viewport)
        awaited = [each for each in (request.wait_for, _selector(request)) if each is not None]
        for selector in awaited:
            await page.require_selector(selector)
        await documents.navigate(request.url, page.session)
        await documents.loaded.wait()
        for selector in awaited:
            await page.wait_for(selector)
        await asyncio.sleep(request.wait_seconds)
        await documents.loaded.wait()  # of a document to which the page led meanwhile
        taker = Taker(
            devtools=devtools,
            watch=self._watch,
            page=page,
            documents=documents,
            monotonic=self._browser.monotonic,
            scale=request.viewport.scale,
        )
        shown = documents.shown
        output = await taker.take(request.task)
        return RenderedPage(
            requested=request.url,
            url=shown.url,
            status_code=shown.status_code,
            media_type=shown.media_type,
            headers=shown.headers,
            body=output.body,
            scripts=output.scripts,
            figures=output.figures,
            is_cut=output.is_cut,
            console_errors=tuple(page.console_errors),
            requests=self._watch.requests,
            transferred_bytes=self._watch.bytes,
            duration_ms=round((self._browser.monotonic() - self._began_at) * 1000),
        )

    async def _page(self, devtools: DevTools) -> BrowserPage:
        """Attach to the empty page with which the browser starts."""
        targets = (await devtools.ask(devtools.send.Target.getTargets()))["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        attached = await devtools.ask(
            devtools.send.Target.attachToTarget({"targetId": target, "flatten": True})
        )
        session = attached["sessionId"]
        tree = await devtools.ask(devtools.send.Page.getFrameTree(session_id=session))
        return BrowserPage(devtools, self._watch, session, tree["frameTree"]["frame"]["id"])

    async def _overrun(self, devtools: DevTools) -> DomainError:
        """Return the error for the end of the time: the caller's, the page's or the browser's."""
        host, seconds = self._request.url.host, self._request.total_seconds
        if self._left < seconds:
            return CallerDeadlineExceeded(f"{host} was not rendered before the caller's deadline")
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                await devtools.ask(devtools.send.Browser.getVersion())
        except TimeoutError:
            return BrowserFailed("the browser stopped answering")
        return RenderTimeout(f"the page of {host} was not ready within {seconds:g} s")


def _selector(request: RenderRequest) -> str | None:
    return request.task.selector if isinstance(request.task, Screenshot) else None
