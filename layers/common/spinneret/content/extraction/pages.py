"""Pages to content: main text as markdown, metadata, language, links."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from lxml import etree, html

from spinneret.content.extraction import page_metadata
from spinneret.content.extraction.articles import article_body
from spinneret.content.extraction.inline import escape, neutralise
from spinneret.content.extraction.markdown import to_markdown
from spinneret.content.extraction.markup import parse_html, parse_xhtml, parse_xml
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.regions import content_regions
from spinneret.content.extraction.structured_data import StructuredData, structured_data
from spinneret.kernel.errors import ContentRefused

_ARTICLE_SHARE: Final = 0.1
"""An article that is less than this of the page's content was cut: the regions are taken."""
_PROSE_LINE_CHARS: Final = 120
_PROSE_SHARE: Final = 0.8  # of the content in such lines: an article, though it doesn't say so
_PROSE_ARTICLE_SHARE: Final = 0.5
_BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def extract(text: str, media_type: str, url: str) -> Content:
    """The content of a page of `media_type` (lower case, without parameters) found at `url`.

    Raises ContentRefused, whose details name the reason: `media_type` (none of HTML, XHTML, XML
    and plain text), `empty` (no letter or digit), `malformed` (not XML) or `too_complex`.
    """
    match media_type:
        case "text/html":
            content = _from_html(parse_html(text), url)
        case "application/xhtml+xml":
            content = _from_html(parse_xhtml(text), url)
        case "application/xml" | "text/xml":
            content = _from_xml(text, url)
        case "text/plain":
            content = Content(title=None, markdown=_plain(text), language="und")
        case _:
            raise ContentRefused(
                f"pages of type {media_type} aren't read", details={"reason": "media_type"}
            )
    if not any(map(str.isalnum, content.markdown)):
        raise ContentRefused("the page holds no text", details={"reason": "empty"})
    return content


def _from_html(root: html.HtmlElement, url: str) -> Content:
    head = page_metadata.Head(root)
    data = structured_data(root)
    base = page_metadata.base_url(root, url)
    return Content(
        title=page_metadata.title(root, head),
        markdown=_normalised(_main_content(root, head, data)),
        language=page_metadata.language(root, head),
        metadata=page_metadata.metadata(root, head, data, base),
        links=page_metadata.links(page_metadata.hrefs(root), base),
    )


def _main_content(root: html.HtmlElement, head: page_metadata.Head, data: StructuredData) -> str:
    """The article where the page is one, else all that isn't chrome.

    Article extraction finds the one text of a page and drops the rest, which is right for
    articles and products and loses most of listings, threads, services and documentation.
    """
    body = root.find("body")
    if body is None:
        return to_markdown(root)
    regions = content_regions(body)
    content = to_markdown(regions.root, regions.left_out)
    kind = head.first("og:type") or ""
    if data.is_article or (kind == "article" and not data.is_thread):
        share, precise = _ARTICLE_SHARE, True
    elif data.is_product or kind.removeprefix("og:") in ("product", "product.item"):
        share, precise = _ARTICLE_SHARE, False
    elif _prose_share(content) >= _PROSE_SHARE:
        share, precise = _PROSE_ARTICLE_SHARE, True
    else:
        return content
    article = article_body(root, precise=precise)
    found = to_markdown(article) if article is not None else ""
    return found if len(found) > share * len(content) else content


def _prose_share(markdown: str) -> float:
    prose = sum(len(line) for line in markdown.split("\n") if len(line) >= _PROSE_LINE_CHARS)
    return prose / max(1, len(markdown))


def _from_xml(text: str, url: str) -> Content:
    root = parse_xml(text)
    if etree.QName(root).localname.lower() == "html":
        return _from_html(parse_xhtml(text), url)
    base = page_metadata.page_url(url)
    titles = _texts(root, "title")
    languages = [root.get("{http://www.w3.org/XML/1998/namespace}lang"), *_texts(root, "language")]
    return Content(
        title=next(iter(titles), None),
        markdown=_normalised(_element_texts(root)),
        language=page_metadata.primary_subtag(languages),
        links=page_metadata.links(
            [
                reference
                for element in root.iter(etree.Element)
                if etree.QName(element).localname in ("link", "loc", "a")
                for reference in (element.get("href") or element.text or "",)
            ],
            base,
        ),
    )


def _element_texts(root: etree._Element) -> str:
    """One paragraph for each run of text; entities of the document's own are left out."""
    lines = (
        " ".join(text.split())
        for element in root.iter(etree.Element)
        for text in (element.text, *(child.tail for child in element))
        if text
    )
    return "\n\n".join(escape(line) for line in lines if line)


def _texts(root: etree._Element, name: str) -> list[str]:
    """The text of the first element of that name in any namespace."""
    for element in root.iter(f"{{*}}{name}"):
        text = " ".join((element.text or "").split())
        return [text] if 0 < len(text) <= page_metadata.MAX_VALUE_CHARS else []
    return []


def _plain(text: str) -> str:
    return neutralise(_CONTROLS.sub("", _BREAKS.sub("\n", text)))


def _normalised(markdown: str) -> str:
    # One form for letters with marks: what looks alike is found alike and hashes alike.
    return unicodedata.normalize("NFC", _CONTROLS.sub("", markdown))
