"""Facts of a page from its response."""

import codecs
import re
from dataclasses import replace
from datetime import datetime
from typing import Final

from spinneret.audits.facts.headers import cookies, kept_headers, link_relations, robots_tags
from spinneret.audits.facts.html import html_facts
from spinneret.audits.facts.models import PAGES, HtmlFacts, PageFacts, PageKind, ReadFailure
from spinneret.content.extraction.markup import parse_html, parse_xhtml, spared
from spinneret.kernel.errors import ContentRefused
from spinneret.web.fetching.charsets import PRESCAN_BYTES, decode_text
from spinneret.web.fetching.models import FetchedPage

_META_CHARSET: Final = re.compile(
    rb"<meta[\s/][^>]*?\bcharset\s*=|^\s*<\?xml[^>]*encoding\s*=", re.IGNORECASE
)
_MARKS: Final = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_page(page: FetchedPage, fetched_at: datetime) -> tuple[PageFacts, ...]:
    """Return the facts of a response; a redirected request gives facts for both its URLs.

    The second is the page under its final URL, which other requests may have found, too. Facts are
    stored by `url`, so that no page counts twice.
    """
    if not page.redirects:
        return (_facts(page, fetched_at),)
    redirect = PageFacts(
        url=page.requested.text,
        kind=PageKind.REDIRECT,
        fetched_at=fetched_at.isoformat(),
        final_url=page.url.text,
        redirects=page.redirects,
        status=page.status_code,
    )
    return redirect, _facts(page, fetched_at)


def unread_page(
    url: str,
    fetched_at: datetime,
    failure: ReadFailure | None,
    *,
    status: int | None = None,
    redirects: tuple[str, ...] = (),
) -> PageFacts:
    """Return the facts of a URL without a readable response, such as an error or a refusal."""
    return PageFacts(
        url=url,
        kind=PageKind.FAILED,
        fetched_at=fetched_at.isoformat(),
        final_url=redirects[-1] if redirects else url,
        redirects=redirects,
        status=status,
        failure=failure,
    )


def _facts(page: FetchedPage, fetched_at: datetime) -> PageFacts:
    kind, failure, found = PageKind.OTHER, None, None
    if page.status_code >= 400:
        kind = PageKind.FAILED
    elif page.media_type in PAGES:
        try:
            kind, found = PageKind.HTML, _html(page)
        except ContentRefused as refusal:
            kind = PageKind.FAILED
            complex_ = refusal.details.get("reason") == "too_complex"
            failure = ReadFailure.TOO_COMPLEX if complex_ else ReadFailure.EMPTY
    return PageFacts(
        url=page.url.text,
        kind=kind,
        fetched_at=fetched_at.isoformat(),
        final_url=page.url.text,
        status=page.status_code,
        failure=failure,
        media_type=page.media_type,
        size=len(page.body),
        first_byte_ms=page.phases.first_byte_ms if page.phases else None,
        headers=kept_headers(page.headers),
        cookies=cookies(page.headers.get("set-cookie", "")),
        header_canonical=link_relations(page.headers.get("link", ""), page.url)[0],
        html=found,
    )


def _html(page: FetchedPage) -> HtmlFacts:
    text = decode_text(page.body, page.charset)
    is_xhtml = page.media_type == "application/xhtml+xml"
    found = html_facts(
        text,
        parse_xhtml(text) if is_xhtml else parse_html(spared(text)),
        page.url,
        _declared_charset(page),
        robots_tags(page.headers.get("x-robots-tag", "")),
    )
    _, alternates = link_relations(page.headers.get("link", ""), page.url)
    return replace(found, alternates=(*found.alternates, *alternates))


def _declared_charset(page: FetchedPage) -> str | None:
    if page.charset:
        return "header"
    if page.body.startswith(_MARKS):
        return "bom"
    return "meta" if _META_CHARSET.search(page.body[:PRESCAN_BYTES]) else None
