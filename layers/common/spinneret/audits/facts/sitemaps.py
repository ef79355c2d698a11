"""Sitemap files as facts (sitemaps.org, protocol 0.9)."""

import io
from typing import Final

from lxml import etree

from spinneret.audits.facts.site import SitemapFacts, SitemapUrl
from spinneret.content.extraction.markup import local_name

MAX_ENTRIES: Final = 50_000  # sitemaps.org: maximum of one file
NOT_A_SITEMAP: Final = "not_a_sitemap"


def read_sitemap(url: str, content: bytes, *, status: int = 200) -> SitemapFacts:
    """Read decompressed content as a stream; report invalid XML and other documents in `error`.

    A text file with one URL per line is a sitemap, too.
    """
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return _text(url, content, status)
    entries: list[SitemapUrl] = []
    count, location, lastmod, root = 0, "", "", ""
    try:
        for event, element in etree.iterparse(
            io.BytesIO(content),
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            remove_comments=True,
            remove_pis=True,
        ):
            name = local_name(element)
            if event == "start":
                root = root or name
                continue
            if name == "loc" and _parent_name(element) in ("url", "sitemap"):
                location = (element.text or "").strip()
            elif name == "lastmod":
                lastmod = (element.text or "").strip()[:50]
            elif name in ("url", "sitemap"):
                count += 1
                if location and len(entries) < MAX_ENTRIES:
                    entries.append(SitemapUrl(location[:2048], lastmod))
                location, lastmod = "", ""
                element.clear()
    except etree.XMLSyntaxError:
        return SitemapFacts(url=url, status=status, size=len(content), error="not_xml")
    known = root in ("urlset", "sitemapindex")
    error = "" if known and count else "empty" if known else NOT_A_SITEMAP
    return SitemapFacts(
        url=url,
        status=status,
        size=len(content),
        error=error,
        is_index=root == "sitemapindex",
        count=count,
        entries=tuple(entries),
    )


def _parent_name(element: etree._Element) -> str:
    parent = element.getparent()
    return "" if parent is None else local_name(parent)


def _text(url: str, content: bytes, status: int) -> SitemapFacts:
    lines = [line.strip() for line in content.decode("utf-8-sig", "replace").splitlines()]
    urls = [line for line in lines if line]
    if not all(line.startswith(("http://", "https://")) for line in urls):
        return SitemapFacts(url=url, status=status, size=len(content), error="not_xml")
    return SitemapFacts(
        url=url,
        status=status,
        size=len(content),
        error="" if urls else "empty",
        count=len(urls),
        entries=tuple(SitemapUrl(line[:2048]) for line in urls[:MAX_ENTRIES]),
    )
