"""Checks of responses: status, redirects, speed, size, headers."""

import re
from typing import Final
from urllib.parse import urlsplit

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.reading import are_near
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import HtmlFacts, PageFacts, PageKind, ReadFailure

_ANY: Final = (PageKind.HTML, PageKind.FAILED)
_HTTP: Final = CheckDecorators(Category.HTTP)

MAX_HOPS: Final = 1  # squirrelscan: 2; each further one costs a round trip
MAX_FIRST_BYTE_MS: Final = 800  # seonaut; web.dev calls more "needs improvement"
MAX_HTML_BYTES: Final = 1024 * 1024  # squirrelscan warns; Googlebot stops at 2 MB
MAX_PDF_BYTES: Final = 30 * 1024 * 1024  # squirrelscan warns; Google reads 64 MB
MIN_COMPRESSED_BYTES: Final = 1024  # less hardly shrinks, and fits into one packet
MIN_MAX_AGE: Final = 86_400  # squirrelscan
SOFT_404_WORDS: Final = 300  # an error page has little other text

# One part of a title between separators: "Room 404" or "Treasures not found in books" is none.
_PART: Final = re.compile(r"\s[|\-\u2013\u2014\u00b7\u2022\u00bb]\s|[:!.]\s|[!.]$")
_NOT_FOUND: Final = re.compile(
    r"(?:(?:http )?(?:error|status|fehler|erreur|errore)(?: code)? ?)?404"
    r"(?: (?:error|page|fehler|(?:error )?\(?not found\)?))?"
    r"|not found"
    r"|(?:.*\W)?page (?:(?:was |is |could |can)?not (?:be )?found|can.t be found"
    r"|doesn.t exist|does not exist|introuvable|non trouvée)"
    r"|(?:.*\W)?seite (?:wurde )?nicht gefunden"
    r"|(?:.*\W)?(?:página no encontrada|pagina non trovata|pagina niet gevonden)",
    re.IGNORECASE,
)
_MAX_AGE: Final = re.compile(r"\b(?:s-)?max(?:-age|age)\s*=\s*\"?(\d+)", re.IGNORECASE)
_TYPES: Final = {
    "html": ("text/html", "application/xhtml+xml"),
    "htm": ("text/html", "application/xhtml+xml"),
    "xhtml": ("application/xhtml+xml", "text/html"),
    "pdf": ("application/pdf",),
    "xml": ("application/xml", "text/xml"),
    "json": ("application/json", "application/ld+json"),
    "txt": ("text/plain",),
    "css": ("text/css",),
    "js": ("text/javascript", "application/javascript"),
    "png": ("image/png",),
    "jpg": ("image/jpeg",),
    "jpeg": ("image/jpeg",),
    "gif": ("image/gif",),
    "webp": ("image/webp",),
    "svg": ("image/svg+xml",),
}


@_HTTP.page(
    "http.4xx",
    "The page answers with a client error",
    Severity.CRITICAL,
    advice="Restore the page, redirect its address to where the content is now, or take the "
    "links to it away.",
    source=sources.STATUS_CODES,
    kinds=_ANY,
)
def client_error(page: PageFacts) -> Answer:
    """Report a status from 400 to 499."""
    return _status(page, range(400, 500))


@_HTTP.page(
    "http.5xx",
    "The page answers with a server error",
    Severity.CRITICAL,
    advice="Look for the error in the server's log; search engines slow down and drop pages that "
    "keep failing.",
    source=sources.STATUS_CODES,
    kinds=_ANY,
)
def server_error(page: PageFacts) -> Answer:
    """Report a status of 500 or above."""
    return _status(page, range(500, 1000))


def _status(page: PageFacts, wrong: range) -> Answer:
    return [Evidence("status", str(page.status), "200")] if page.status in wrong else []


@_HTTP.page(
    "http.timeout",
    "The page doesn't answer",
    Severity.CRITICAL,
    advice="Find out whether the server, its name or its certificate fails, or takes too long.",
    source=sources.STATUS_CODES,
    kinds=_ANY,
)
def no_answer(page: PageFacts) -> Answer:
    """Report a missing or late response."""
    silent = page.failure in (ReadFailure.TIMEOUT, ReadFailure.NETWORK)
    return [Evidence("answer", str(page.failure))] if silent else []


@_HTTP.page(
    "http.empty",
    "The page answers with nothing",
    Severity.HIGH,
    advice="Send the page's content, or answer with 404 or 410 where there is no page.",
    source=sources.SOFT_404,
    kinds=_ANY,
)
def empty(page: PageFacts) -> Answer:
    """Report a successful response without a document."""
    is_empty = page.failure is ReadFailure.EMPTY
    return [Evidence("body", f"{page.size} bytes", "a document")] if is_empty else []


@_HTTP.page_in_site(
    "http.redirect",
    "Links lead to a redirect within the site",
    Severity.MEDIUM,
    advice="Link to the address that the redirect leads to.",
    source=sources.REDIRECTS,
)
def links_to_redirect(page: PageNode, site: Site) -> Answer:
    """Report internal links whose target redirects."""
    if not page.links:
        return None
    targets = ((url, site.node(url)) for url in site.urls_of(page.links))
    return [
        Evidence("a[href]", url, url=node.final_url)
        for url, node in targets
        if node is not None and node.kind is PageKind.REDIRECT
    ]


@_HTTP.page_in_site(
    "http.redirect_chain",
    "Links lead through several redirects",
    Severity.HIGH,
    advice="Let the first redirect lead straight to the last address.",
    source=sources.REDIRECTS,
)
def links_to_redirect_chain(page: PageNode, site: Site) -> Answer:
    """Report internal links with two redirects or more, also through pages of their own."""
    if not page.links:
        return None
    targets = ((url, site.node(url)) for url in site.urls_of(page.links))
    return [
        Evidence(
            "a[href]", f"{url} ({site.hops(url)} redirects)", str(MAX_HOPS), url=node.final_url
        )
        for url, node in targets
        if node is not None
        and (
            (node.kind is PageKind.REDIRECT and site.hops(url) > MAX_HOPS)
            or node.failure is ReadFailure.TOO_MANY_REDIRECTS
        )
    ]


@_HTTP.page(
    "http.redirect_loop",
    "The page redirects in a circle",
    Severity.CRITICAL,
    advice="Break the circle: one of its addresses has to answer with the page.",
    source=sources.REDIRECTS,
    kinds=_ANY,
)
def redirect_loop(page: PageFacts) -> Answer:
    """Report redirects that return to their start, or never end."""
    endless = page.failure in (ReadFailure.REDIRECT_LOOP, ReadFailure.TOO_MANY_REDIRECTS)
    path = " → ".join(page.redirects[:10]) or page.url
    return [Evidence("header: Location", path)] if endless else []


@_HTTP.markup(
    "http.meta_refresh",
    "The page redirects by its markup",
    Severity.MEDIUM,
    advice="Redirect with 301 or 308: readers and search engines then never get the empty page.",
    source=sources.REDIRECTS,
)
def meta_refresh(page: PageFacts, html: HtmlFacts) -> Answer:
    """Report `meta http-equiv=refresh` with another page as its target."""
    target = html.refresh
    leads_away = target and target not in (page.url, page.final_url)
    return [Evidence("meta[http-equiv=refresh]", target, "", target)] if leads_away else []


@_HTTP.site(
    "http.unknown_address",
    "Addresses that don't exist are answered as pages",
    Severity.HIGH,
    advice="Answer with 404 or 410 where there is no page.",
    source=sources.SOFT_404,
)
def unknown_address(site: Site) -> Answer:
    """Check an address that no site has; a redirect to a page is no error status, either."""
    asked = site.facts.host.unknown_address
    if asked is None:
        return None
    is_page = 200 <= asked.status < 300
    return [Evidence("status", f"{asked.status} {asked.final_url}", "404")] if is_page else []


@_HTTP.page_in_site(
    "http.soft_404",
    "An error page answers with 200",
    Severity.HIGH,
    advice="Answer with 404 or 410 where there is no page.",
    source=sources.SOFT_404,
)
def soft_404(page: PageNode, site: Site) -> Answer:
    """Report short pages that are called an error page, or look like an unknown address's."""
    asked = site.facts.host.unknown_address
    if asked is not None and page.url not in (asked.final_url, site.start.text):
        same = page.fingerprint and page.fingerprint == asked.fingerprint
        if same or are_near(page.signature, asked.signature):
            return [Evidence("body", "the text of an unknown address", "status 404", asked.url)]
    if page.words > SOFT_404_WORDS:
        return []
    for where, text in (("title", page.title), ("h1", page.h1)):
        if any(_NOT_FOUND.fullmatch(part.strip()) for part in _PART.split(text)):
            return [Evidence(where, text, "status 404")]
    return []


@_HTTP.page(
    "http.ttfb",
    "The first byte comes late",
    Severity.MEDIUM,
    advice="Cache what the page is made of, or the page itself, near to its readers.",
    source=sources.TTFB,
)
def late_first_byte(page: PageFacts) -> Answer:
    """Check the time of a single request from the audit's region."""
    if page.first_byte_ms is None:
        return None
    late = page.first_byte_ms > MAX_FIRST_BYTE_MS
    return [Evidence("time to first byte", f"{page.first_byte_ms} ms", "800 ms")] if late else []


@_HTTP.page(
    "http.html_size",
    "The document is very large",
    Severity.HIGH,
    advice="Move data and scripts out of the document; Googlebot reads its first 2 MB only.",
    source=sources.FILE_TYPES,
    kinds=_ANY,
)
def html_size(page: PageFacts) -> Answer:
    """Check the size of the decoded document."""
    if page.failure is ReadFailure.TOO_LARGE:
        return [Evidence("document", "more than the audit reads", "1 MiB")]
    over = page.size > MAX_HTML_BYTES
    return [Evidence("document", f"{page.size} bytes", "1 MiB")] if over else []


@_HTTP.page_in_site(
    "http.pdf_size",
    "A linked PDF is very large",
    Severity.LOW,
    advice="Compress the images in the document, or split it.",
    source=sources.FILE_TYPES,
)
def pdf_size(page: PageNode, site: Site) -> Answer:
    """Check only linked PDFs whose size is known."""
    linked = site.urls_of([*page.links, *page.external])
    pdfs = [(url, size) for url in linked if (size := site.pdf_bytes(url)) is not None]
    if not pdfs:
        return None
    return [
        Evidence("a[href]", f"{size} bytes", "30 MiB", url=url)
        for url, size in pdfs
        if size > MAX_PDF_BYTES
    ]


@_HTTP.page(
    "http.compression",
    "The document is sent uncompressed",
    Severity.MEDIUM,
    advice="Let the server compress text with gzip, br or zstd.",
    source=sources.COMPRESSION,
)
def compression(page: PageFacts) -> Answer:
    """Report uncompressed documents of at least 1 KiB."""
    if page.size < MIN_COMPRESSED_BYTES:
        return None
    coding = (page.header("content-encoding") or "").strip().lower()
    if coding and coding != "identity":
        return []
    return [Evidence("header: Content-Encoding", coding or "(none)", "gzip, br or zstd")]


@_HTTP.page(
    "http.cache",
    "The page can't be cached or revalidated",
    Severity.LOW,
    advice="Send an ETag or Last-Modified header, or a Cache-Control with a day or more.",
    source=sources.CACHING,
)
def caching(page: PageFacts) -> Answer:
    """Report pages that are neither fresh for a day nor have a validator."""
    if page.header("etag") or page.header("last-modified"):
        return []
    control = page.header("cache-control") or ""
    is_fresh = any(int(age) >= MIN_MAX_AGE for age in _MAX_AGE.findall(control))
    if is_fresh or (not control and page.header("expires")):
        return []
    return [Evidence("header: Cache-Control", control or "(none)", f"max-age={MIN_MAX_AGE}")]


@_HTTP.page(
    "http.mime",
    "The media type doesn't fit the extension",
    Severity.MEDIUM,
    advice="Send the Content-Type that the file has.",
    source=sources.MEDIA_TYPES,
    kinds=(PageKind.HTML, PageKind.OTHER),
)
def media_type(page: PageFacts) -> Answer:
    """Check only known extensions; `.php` and the like imply no type."""
    _, dot, extension = urlsplit(page.final_url).path.rpartition("/")[2].rpartition(".")
    expected = _TYPES.get(extension.lower()) if dot else None
    if expected is None:
        return None
    if page.media_type in expected or (extension == "xml" and page.media_type.endswith("+xml")):
        return []
    return [Evidence("header: Content-Type", page.media_type or "(none)", expected[0])]
