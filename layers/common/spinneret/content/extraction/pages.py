"""Extracts content from pages: main text as Markdown, metadata, language and links."""

import re
from dataclasses import dataclass, replace
from typing import Final

from lxml import etree, html

from spinneret.content.extraction import engines, page_metadata
from spinneret.content.extraction.aria import name_by_roles
from spinneret.content.extraction.choice import Engines, decide
from spinneret.content.extraction.inline import escape, neutralise
from spinneret.content.extraction.languages import language_of
from spinneret.content.extraction.markdown import to_markdown
from spinneret.content.extraction.markup import (
    local_name,
    parse_html,
    parse_xhtml,
    parse_xml,
    spared,
)
from spinneret.content.extraction.models import (
    UNKNOWN,
    Content,
    Extraction,
    ExtractionStrategy,
    Hyperlink,
    PageType,
)
from spinneret.content.extraction.page import ParsedPage
from spinneret.content.extraction.selection import left_out
from spinneret.content.extraction.structured_data import StructuredData, structured_data
from spinneret.kernel.errors import ContentRefused
from spinneret.kernel.unicode import composed
from spinneret.web.fetching.urls import web_url

ENGINES: Final = Engines(
    rules=("regions", engines.regions),
    classifier=("rs-trafilatura", engines.classifying_rs_trafilatura),
    articles=("trafilatura", engines.trafilatura_by_type),
)
_BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


@dataclass(frozen=True)
class Selected:
    """Elements of a page to render."""

    root: html.HtmlElement
    left_out: frozenset[etree._Element]
    extraction: Extraction | None


def extract(
    text: str,
    media_type: str,
    url: str,
    strategy: ExtractionStrategy = ExtractionStrategy.MARKDOWN,
    *,
    targets: bool = True,
) -> Content:
    """Extract the content of a page of `media_type` (lower case, without parameters) at `url`.

    Plain text and XML are content as a whole, regardless of the strategy. `targets` keeps link
    addresses and the pictures that have a description.

    Raises ContentRefused with the reason in its details: `media_type` (not HTML, XHTML, XML or
    plain text), `empty` (no letter or digit), `malformed` (not XML) or `too_complex`.
    """
    whole = strategy is ExtractionStrategy.RAW
    match media_type:
        case "text/html":
            source = spared(text)
            content = _from_html(parse_html(source), source, url, whole=whole, targets=targets)
        case "application/xhtml+xml":
            root = parse_xhtml(text)
            content = _from_html(root, spared(text), url, whole=whole, targets=targets)
        case "application/xml" | "text/xml":
            content = _from_xml(text, url, whole=whole, targets=targets)
        case "text/plain":
            content = Content(title=None, markdown=_plain(text), language=UNKNOWN)
        case _:
            raise ContentRefused(
                f"pages of type {media_type} aren't read", details={"reason": "media_type"}
            )
    if not any(map(str.isalnum, content.markdown)):
        raise ContentRefused("the page holds no text", details={"reason": "empty"})
    return replace(content, language=language_of(content.text, content.language))


def _from_html(
    root: html.HtmlElement, text: str, url: str, *, whole: bool, targets: bool
) -> Content:
    name_by_roles(root)
    # lxml makes an element's object again in each of many passes unless something holds it.
    held = list(root.iter())  # noqa: F841 - never read
    head = page_metadata.Head(root)
    data = structured_data(root)
    resolve = page_metadata.resolver(page_metadata.base_url(root, url))
    selected = _whole_body(root) if whole else _main_content(root, text, url, head, data)
    addresses = page_metadata.Targets(resolve) if targets else None
    return Content(
        title=page_metadata.title(root, head),
        markdown=_normalised(to_markdown(selected.root, selected.left_out, addresses)),
        language=page_metadata.language(root, head),
        metadata=page_metadata.metadata(root, head, data, resolve),
        hyperlinks=page_metadata.hyperlinks(root, resolve),
        nofollow_agents=page_metadata.nofollow_agents(head),
        extraction=selected.extraction,
    )


def _whole_body(root: html.HtmlElement) -> Selected:
    body = root.find("body")
    return Selected(root if body is None else body, frozenset(), None)


def _main_content(
    root: html.HtmlElement, text: str, url: str, head: page_metadata.Head, data: StructuredData
) -> Selected:
    """Return the elements to render and the engines' agreement."""
    body = root.find("body")
    if body is None:
        return Selected(root, frozenset(), None)
    page = ParsedPage(
        text=text,
        url=url,
        root=root,
        body=body,
        data=data,
        og_type=(head.first("og:type") or "").lower(),
    )
    decision = decide(page, ENGINES)
    # An article's title is stored separately, so it is removed from the text of the body.
    is_article = decision.extraction.page_type is PageType.ARTICLE
    title = page_metadata.title(root, head) if is_article else None
    skipped = left_out(page, decision.chosen, title=title) | decision.left_out
    return Selected(body, frozenset(skipped), decision.extraction)


def _from_xml(text: str, url: str, *, whole: bool, targets: bool) -> Content:
    root = parse_xml(text)
    if local_name(root).lower() == "html":
        return _from_html(parse_xhtml(text), spared(text), url, whole=whole, targets=targets)
    resolve = page_metadata.resolver(web_url(url))
    titles = _texts(root, "title")
    languages = [root.get("{http://www.w3.org/XML/1998/namespace}lang"), *_texts(root, "language")]
    return Content(
        title=next(iter(titles), None),
        markdown=_normalised(_element_texts(root)),
        language=page_metadata.primary_subtag(languages),
        hyperlinks=tuple(map(_bare_link, page_metadata.links(_xml_links(root), resolve))),
    )


def _bare_link(url: str) -> Hyperlink:
    return Hyperlink(url=url)


def _xml_links(root: etree._Element) -> list[str]:
    return [
        element.get("href") or element.text or ""
        for element in root.iter(etree.Element)
        if local_name(element) in ("link", "loc", "a")
    ]


def _element_texts(root: etree._Element) -> str:
    """Return one paragraph per text between tags; entities defined by the document are omitted."""
    lines = (
        " ".join(text.split())
        for element in root.iter(etree.Element)
        for text in (element.text, *(child.tail for child in element))
        if text
    )
    return "\n\n".join(escape(line) for line in lines if line)


def _texts(root: etree._Element, name: str) -> list[str]:
    """Return the text of the first element with that name in any namespace."""
    for element in root.iter(f"{{*}}{name}"):
        text = " ".join((element.text or "").split())
        return [text] if 0 < len(text) <= page_metadata.MAX_VALUE_CHARS else []
    return []


def _plain(text: str) -> str:
    return neutralise(_CONTROLS.sub("", _BREAKS.sub("\n", text)))


def _normalised(markdown: str) -> str:
    # NFC form, so that text that looks alike is found and hashed alike.
    return composed(_CONTROLS.sub("", markdown))
