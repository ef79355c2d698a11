"""Facts of a site that precede its pages: the host that responds, robots.txt, sitemaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import chain
from typing import Final

from spinneret.audits import limits
from spinneret.audits.facts.models import PAGES, HtmlFacts
from spinneret.audits.facts.pages import read_page
from spinneret.audits.facts.site import (
    FileFacts,
    HostFacts,
    SiteFacts,
    SitemapFacts,
    UnknownAddress,
)
from spinneret.audits.facts.sitemaps import NOT_A_SITEMAP, read_sitemap
from spinneret.audits.models import AuditPhase, Progress
from spinneret.audits.preview import NO_ANSWER
from spinneret.audits.running.slices import AuditContext, get
from spinneret.audits.running.storage import Storage
from spinneret.jobs.worker import Defer, ReleaseJob
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.errors import (
    BodyTooLarge,
    ContentRefused,
    FetchFailed,
    HttpUnavailable,
    UrlInvalid,
)
from spinneret.kernel.service import service
from spinneret.web.exploring.sitemaps.walk import first_sitemaps
from spinneret.web.fetching.addresses import parse_address
from spinneret.web.fetching.charsets import decode_text
from spinneret.web.fetching.decoding import decode
from spinneret.web.fetching.head import declared_length
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.rules import require_success
from spinneret.web.fetching.urls import Url, join_url, parse_url
from spinneret.web.models import WaitUntil

_GZIP: Final = b"\x1f\x8b"
_START: Final = "start"
_LISTED: Final = "sitemap:"


@service
class SiteProbe:
    """Runs one probe after another; a slice that ends in between resumes at the next one."""

    storage: Storage

    def run(self, work: AuditContext, progress: Progress, url: str) -> Progress:
        """Store the facts of the site. Raise the errors of a start page that doesn't respond."""
        site = self.storage.site(progress) or SiteFacts(
            start_url=url,
            audited_at=work.clock().isoformat(),
            is_single=work.sample.max_pages == 1,
        )
        state = _Settled(work, site, set(progress.probed))
        try:
            for name, question in state.questions():
                work.checkpoint(AuditPhase.SETTLING, 1)
                question()
                state.answered.add(name)
        except (Defer, ReleaseJob):
            self.storage.keep_site(state.site, self._noted(progress, state), work)
            raise
        settled = self._noted(progress, state)
        work.note(
            "settled",
            start_url=state.site.start_url,
            robots=state.site.robots.status,
            sitemaps=len(state.site.sitemaps),
            listed=sum(each.count for each in state.site.sitemaps if not each.is_index),
        )
        return self.storage.keep_site(state.site, replace(settled, phase=AuditPhase.CRAWLING), work)

    def _noted(self, progress: Progress, state: _Settled) -> Progress:
        answered = _START in state.answered
        start_url = state.site.start_url if answered else None
        return replace(progress, start_url=start_url, probed=tuple(sorted(state.answered)))


class _Settled:
    """Facts and answered probes so far."""

    def __init__(self, work: AuditContext, site: SiteFacts, answered: set[str]) -> None:
        self.site = site
        self.answered = answered
        self._work = work

    def questions(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield unanswered probes; a sitemap may add more."""
        first: list[tuple[str, Callable[[], None]]] = [
            (_START, self._start),
            ("robots", self._robots),
        ]
        if not self.site.is_single:
            first += [("llms", self._llms), ("http", self._by_http), ("www", self._other_www)]
            first += [("unknown", self._unknown_address)]
        for name, question in first:
            if name not in self.answered:
                yield name, question
        while not self.site.is_single and (url := self._next_sitemap()) is not None:
            if sum(name.startswith(_LISTED) for name in self.answered) >= limits.SITEMAPS:
                self.site = replace(self.site, has_all_sitemaps=False)
                return
            yield f"{_LISTED}{url}", partial(self._sitemap, url)

    @property
    def _url(self) -> Url:
        return parse_url(self.site.start_url)

    def _start(self) -> None:
        """Fetch the start page; raise its errors, as an audit needs it."""
        page = self._work.page(get(self._url), "start")
        try:
            require_success(page, self._work.clock())
        except HttpUnavailable as error:
            if error.retry_after is None:
                raise
            until = self._work.clock() + timedelta(seconds=error.retry_after)
            waiting_for = f"{self._work.host}: retry_after"
            refusal = f"it answers {page.status_code}"
            asks = WaitUntil(until=until, waiting_for=waiting_for, refusal=refusal)
            raise self._work.wait(asks) from error
        if page.media_type not in PAGES:
            answered = page.media_type or "no media type"
            message = f"{page.url.host} answered {answered}: the start page isn't HTML"
            raise ContentRefused(message, details={"content_type": page.media_type})
        ends = page.certificate.not_after.isoformat() if page.certificate else None
        host = replace(self.site.host, certificate_ends_at=ends)
        self.site = replace(self.site, start_url=page.url.text, host=host)

    def _robots(self) -> None:
        size = limits.ROBOTS_BYTES
        self.site = replace(self.site, robots=self._file("/robots.txt", size))

    def _llms(self) -> None:
        self.site = replace(self.site, llms_txt=self._file("/llms.txt", limits.TEXT_BYTES))

    def _file(self, path: str, size: int) -> FileFacts:
        url = replace(self._url, path=path, query="")
        try:
            page = self._work.page(get(url, excerpt_bytes=size + 1), path)
        except NO_ANSWER:
            return FileFacts()
        declared = 0 if "content-encoding" in page.headers else declared_length(page.headers)
        return FileFacts(
            status=page.status_code,
            redirects=len(page.redirects),
            size=max(len(page.body), declared),
            content=decode_text(page.body[:size], page.charset or "utf-8"),
        )

    def _by_http(self) -> None:
        """Store the final URL of plain HTTP, unless an unusual port implies the protocol."""
        if self._url.unusual_port is None:
            plain = replace(self._url, scheme="http", port=80, path="/", query="")
            page = self._aside(get(plain, method="HEAD"), "http")
            final = None if page is None else page.url.text
            self._keep(replace(self.site.host, http_final_url=final))

    def _other_www(self) -> None:
        url = self._url
        if url.unusual_port is None and parse_address(url.host) is None:
            bare = url.host.removeprefix("www.")
            host = bare if url.host.startswith("www.") else f"www.{bare}"
            page = self._aside(get(replace(url, host=host), method="HEAD"), "www")
            answers = page is not None and 200 <= page.status_code < 300
            final = page.url.text if page is not None and answers else ""
            self._keep(replace(self.site.host, other_www_final_url=final))

    def _unknown_address(self) -> None:
        """Store what the host answers to an address that doesn't exist."""
        name = f"/no-such-page-{fingerprint(self._work.ref.session_id)[:16]}"
        url = replace(self._url, path=name, query="")
        try:
            page = self._work.page(get(url), "unknown")
        except NO_ANSWER:
            return
        html = read_page(page, self._work.clock())[-1].html or HtmlFacts()
        answer = UnknownAddress(
            url=url.text,
            status=page.status_code,
            final_url=page.url.text,
            fingerprint=html.text.fingerprint,
            signature=html.text.signature,
        )
        self._keep(replace(self.site.host, unknown_address=answer))

    def _keep(self, host: HostFacts) -> None:
        self.site = replace(self.site, host=host)

    def _aside(self, request: FetchRequest, name: str) -> FetchedPage | None:
        """Fetch from an address that may be another server; return None without an answer.

        An audit doesn't wait for a server that refuses, unless it is the site's own. Raises
        BodyTooLarge.
        """
        try:
            answer = self._work.ask(request, name)
        except BodyTooLarge:
            raise
        except NO_ANSWER:
            return None
        if isinstance(answer, WaitUntil):
            if answer.refusal and request.url.origin != self._url.origin:
                return None
            raise self._work.wait(answer)
        return answer

    # ------------------------------------------------------------ Sitemaps

    def _next_sitemap(self) -> str | None:
        """Return the next sitemap to read, or None.

        Sitemaps of robots.txt or the usual places come first, then the children of indexes.
        """
        asked = [name.removeprefix(_LISTED) for name in self.answered if name.startswith(_LISTED)]
        rules = self.site.robots_rules
        is_found = bool(self.site.sitemaps) and not rules.sitemaps
        urls = () if is_found else first_sitemaps(self._url, rules)
        for url in chain(urls, self._indexed()):  # indexes may list a million
            if url not in asked:
                return url
        return None

    def _indexed(self) -> Iterator[str]:
        for sitemap in self.site.sitemaps:
            if sitemap.is_index:
                for entry in sitemap.entries:
                    child = join_url(self._url, entry.url)
                    if child is not None:
                        yield child.text

    def _sitemap(self, url: str) -> None:
        found = self._read(url)
        is_guess = not self.site.robots_rules.sitemaps and not self.site.sitemaps
        if not is_guess or (found.is_there and found.error != NOT_A_SITEMAP):
            self.site = replace(self.site, sitemaps=(*self.site.sitemaps, found))

    def _read(self, url: str) -> SitemapFacts:
        try:
            page = self._aside(get(parse_url(url), max_bytes=limits.SITEMAP_BYTES), url)
        except BodyTooLarge:
            return SitemapFacts(url=url, size=limits.SITEMAP_BYTES + 1)
        except UrlInvalid:  # robots.txt may contain any text
            page = None
        if page is None:
            return SitemapFacts(url=url, status=None)
        if not 200 <= page.status_code < 300:
            return SitemapFacts(url=url, status=page.status_code)
        try:
            content = _unpacked(page)
        except BodyTooLarge:
            return SitemapFacts(url=url, size=limits.SITEMAP_BYTES + 1)
        except (FetchFailed, ContentRefused):
            return SitemapFacts(url=url, size=len(page.body), error="not_xml")
        found = read_sitemap(url, content, status=page.status_code)
        is_page = page.media_type in PAGES and found.error
        return replace(found, error=NOT_A_SITEMAP) if is_page else found


def _unpacked(page: FetchedPage) -> bytes:
    if not page.body.startswith(_GZIP):
        return page.body
    pieces = decode([page.body], ["gzip"], max_bytes=limits.SITEMAP_BYTES, checkpoint=lambda: None)
    return b"".join(pieces)
