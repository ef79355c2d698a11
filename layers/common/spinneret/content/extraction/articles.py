"""The body of an article or a product, by trafilatura.

Its answer is a tree in a vocabulary of its own (TEI); here it is turned back into HTML names, so
that there is one way to markdown. Its own markdown loses blank lines of code and whitespace.
"""

from __future__ import annotations

import logging
from typing import Final

import trafilatura
from lxml import etree, html

from spinneret.content.extraction.inline import all_text

logger = logging.getLogger(__name__)

MAX_ELEMENTS: Final = 30_000
"""Its passes aren't all linear: this many take about 3 s, and longer pages aren't articles."""
MAX_CHARS: Final = 1_000_000
MAX_DEPTH: Final = 200  # it recurses

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SAME: Final = {"item": "li", "row": "tr", "quote": "blockquote", "lb": "br", "ref": "a"}
_INLINE: Final = {"#b": "b", "#i": "i", "#t": "code", "#sub": "sub", "#sup": "sup", "#u": "u"}


def article_body(root: html.HtmlElement, *, precise: bool) -> etree._Element | None:
    """The main text as HTML elements, None when nothing was found or the page is too large.

    `precise` prefers losing a paragraph to keeping a teaser.
    """
    if _is_too_large(root):
        return None
    try:
        found = trafilatura.bare_extraction(
            root,
            output_format="markdown",  # keeps formatting; nothing is rendered here
            include_comments=False,
            include_tables=True,
            favor_precision=precise,
        )
    except Exception:  # heuristics of others on any markup: without an article, the page remains
        logger.warning("article_extraction_failed", exc_info=True)
        return None
    # A dict only comes with `as_dict`, which isn't asked for.
    return None if found is None or isinstance(found, dict) else _as_html(found.body)


def _is_too_large(root: html.HtmlElement) -> bool:
    elements = chars = depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            depth -= 1
            continue
        depth += 1
        elements += 1
        if element.tag not in ("script", "style"):
            chars += len(element.text or "") + len(element.tail or "")
        if elements > MAX_ELEMENTS or chars > MAX_CHARS or depth > MAX_DEPTH:
            return True
    return False


def _as_html(body: etree._Element) -> etree._Element:
    for element in body.iter(etree.Element):
        element.tag = _html_name(element)
    return body


def _html_name(element: etree._Element) -> str:
    style = element.get("rend") or ""
    match element.tag:
        case "head":
            return style if style in _HEADINGS else "h2"
        case "list":
            return "ol" if style == "ol" else "ul"
        case "cell":
            return "th" if element.get("role") == "head" else "td"
        case "hi":
            return _INLINE.get(style, "span")
        case "code":
            lines = "\n" in all_text(element) or element.find(".//lb") is not None
            return "pre" if lines else "code"
        case tag:
            return _SAME.get(tag, tag)
