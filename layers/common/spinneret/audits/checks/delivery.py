"""Checks of how documents are sent: speed, size, compression, caching, media type."""

import re
from typing import Final
from urllib.parse import urlsplit

from spinneret.audits.checks import sources
from spinneret.audits.checks.families import CheckDecorators
from spinneret.audits.checks.models import Answer, Category, Evidence, Severity
from spinneret.audits.checks.pages import PageNode
from spinneret.audits.checks.site import Site
from spinneret.audits.facts.models import PageFacts, PageKind, ReadFailure

_HTTP: Final = CheckDecorators(Category.HTTP)

MAX_FIRST_BYTE_MS: Final = 800  # seonaut; web.dev calls more "needs improvement"
MAX_HTML_BYTES: Final = 1024 * 1024  # squirrelscan warns; Googlebot stops at 2 MB
MAX_PDF_BYTES: Final = 30 * 1024 * 1024  # squirrelscan warns; Google reads 64 MB
MIN_COMPRESSED_BYTES: Final = 1024  # less hardly shrinks, and fits into one packet
MIN_MAX_AGE: Final = 86_400  # squirrelscan
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
    kinds=(PageKind.HTML, PageKind.FAILED),
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
    outcomes = (
        (url, site.facts.outcomes.get(url)) for url in site.urls_of([*page.links, *page.external])
    )
    pdfs = [
        (url, outcome.size)
        for url, outcome in outcomes
        if outcome and outcome.size is not None and outcome.media_type == "application/pdf"
    ]
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
    age = _MAX_AGE.search(control)
    if (age and int(age[1]) >= MIN_MAX_AGE) or (not control and page.header("expires")):
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
