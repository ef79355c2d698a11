"""The page's main documents: which may be requested, what came back, and the one that is shown."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from cdp_use.cdp.fetch.events import RequestPausedEvent
from cdp_use.cdp.network.events import (
    DataReceivedEvent,
    LoadingFailedEvent,
    ResponseReceivedEvent,
)
from cdp_use.cdp.page.events import FrameNavigatedEvent

from spinneret.kernel.errors import (
    ContentRefused,
    DomainError,
    FetchFailed,
    PageTooLarge,
    TooManyRedirects,
    UrlBlocked,
)
from spinneret.kernel.service import service
from spinneret.web.browser import limits
from spinneret.web.browser.devtools import CommandRefused, DevTools
from spinneret.web.browser.egress import EgressProxy
from spinneret.web.browser.watch import Watch
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.rules import is_blocked
from spinneret.web.fetching.urls import Url, parse_url

MEDIA_TYPES: Final = frozenset(
    {
        *("text/html", "application/xhtml+xml", "text/plain"),
        *("image/svg+xml", "application/xml", "text/xml"),
    }
)
"""Main documents that a browser shows as a page."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A main document that arrived."""

    url: Url
    status_code: int
    media_type: str
    headers: Mapping[str, str]


@service
class Documents:
    """Guards the main frame's requests; one page."""

    devtools: DevTools
    watch: Watch
    egress: EgressProxy
    policy: AddressPolicy
    threads: ThreadPoolExecutor
    before_document: Callable[[Url], None] | None
    frame: str
    """Id of the main frame."""

    def __post_init__(self) -> None:
        self._requested: dict[str, Url] = {}
        """Latest URL of each load; redirects stay within their load."""
        self._requests = 0
        self._arrived: dict[str, Document] = {}
        self._sizes: dict[str, int] = {}
        self._shown = ""
        self.loaded = asyncio.Event()
        """Set after the load event of the shown document."""

    @property
    def shown(self) -> Document:
        """The document in the main frame. Raises ContentRefused if none came from the web."""
        document = self._arrived.get(self._shown)
        if document is None:
            raise ContentRefused(f"{self.watch.host} shows a document that isn't from the web")
        return document

    async def on_request_paused(self, event: RequestPausedEvent, session: str | None) -> None:
        """Let a document's request pass, or end the rendering."""
        request_id = event["requestId"]
        send = self.devtools.send.Fetch
        try:
            if event["frameId"] == self.frame:
                await self._admit(event)
        except BaseException as error:
            self.watch.fail(error)  # before the browser can report its own
            raise
        await self.devtools.ask(send.continueRequest({"requestId": request_id}, session))

    async def _admit(self, event: RequestPausedEvent) -> None:
        host = self.watch.host
        url = parse_url(event["request"]["url"].partition("#")[0])
        self._requested[event.get("networkId", "")] = url
        self._requests += 1
        if self._requests > limits.RENDER_MAX_REDIRECTS + 1:
            most = limits.RENDER_MAX_REDIRECTS
            raise TooManyRedirects(
                f"{host} leads to other documents more than {most} times",
                details={"max_redirects": most},
            )
        if is_blocked(url, self.policy):
            raise UrlBlocked(f"{host} leads to a host that must not be reached")
        if self.before_document is not None:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self.threads, self.before_document, url)

    def on_response(self, event: ResponseReceivedEvent) -> None:
        """Keep the facts of a main document; end the rendering if it isn't a page."""
        url = self._requested.get(event["requestId"])
        if url is None or event.get("frameId") != self.frame:
            return
        if (failure := self.egress.failure(url)) is not None:  # the response is the proxy's own
            self.watch.fail(failure)
            return
        response = event["response"]
        media_type = response["mimeType"].lower()
        self._arrived[event["requestId"]] = Document(
            url=url,
            status_code=response["status"],
            media_type=media_type,
            headers=_joined(response["headers"]),
        )
        if media_type not in MEDIA_TYPES:
            self.watch.fail(_refused(self.watch.host, media_type))

    def on_data(self, event: DataReceivedEvent) -> None:
        """Count the decoded bytes of a main document."""
        if (load := event["requestId"]) in self._requested:
            self._sizes[load] = self._sizes.get(load, 0) + event["dataLength"]
            if self._sizes[load] > limits.DOCUMENT_MAX_BYTES:
                self.watch.fail(self.too_large())

    def on_failure(self, event: LoadingFailedEvent) -> None:
        """End the rendering if a main document failed, and not only gave way to the next."""
        url = self._requested.get(event["requestId"])
        if url is not None and not event.get("canceled", False):
            self.watch.fail(self.failure(url, event["errorText"]))

    def on_navigated(self, event: FrameNavigatedEvent) -> None:
        """Note which document the main frame shows from now on."""
        if event["frame"]["id"] == self.frame:
            self._shown = event["frame"]["loaderId"]
            self.loaded.clear()

    def failure(self, url: Url, net_error: str) -> DomainError:
        """Return the error for a document that failed with an error of Chromium's network."""
        known = self.egress.failure(url)
        if known is not None:
            return known
        host = self.watch.host
        if net_error == "net::ERR_ABORTED":  # a download, or a response without content
            return _refused(host, "no page")
        is_tls = net_error.startswith(("net::ERR_CERT_", "net::ERR_SSL_"))
        reason = "tls" if is_tls else "connection"
        return FetchFailed(f"the connection to {host} failed", details={"reason": reason})

    def too_large(self) -> PageTooLarge:
        """Return the error for a document or DOM beyond its bound."""
        return self.watch.too_large(f"has more than {limits.DOCUMENT_MAX_BYTES} bytes of HTML")

    async def navigate(self, url: Url, session: str) -> None:
        """Request the first document, and wait until it arrives."""
        try:
            answer = await self.devtools.ask(
                self.devtools.send.Page.navigate({"url": url.text}, session)
            )
        except CommandRefused as error:
            raise FetchFailed(
                f"the connection to {self.watch.host} failed", details={"reason": "connection"}
            ) from error
        if net_error := answer.get("errorText"):
            latest = list(self._requested.values())[-1:] or [url]
            raise self.failure(latest[0], net_error)


def _joined(headers: Mapping[str, object]) -> dict[str, str]:
    """Return headers as a fetch does; DevTools separates repeated ones by line feeds."""
    return {name.lower(): str(value).replace("\n", ", ") for name, value in headers.items()}


def _refused(host: str, media_type: str) -> ContentRefused:
    return ContentRefused(f"{host} answered {media_type}, which a browser shows as no page")
