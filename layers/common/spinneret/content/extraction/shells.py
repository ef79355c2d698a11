"""Pages whose text only their scripts make."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from lxml import etree, html

from spinneret.content.extraction.markup import parse_html, parse_xhtml, spared
from spinneret.kernel.errors import ContentRefused

SHELL_MAX_LETTERS: Final = 200
"""Letters and digits below which a page with scripts counts as a shell: docs/media.md."""
_UNSEEN: Final = frozenset({"head", "script", "style", "noscript", "template"})
_DATA: Final = ("application/json", "application/ld+json", "importmap", "speculationrules")


def is_shell(text: str, media_type: str) -> bool:
    """Return whether an HTML or XHTML page has scripts and next to no text without them.

    A page that can't be parsed is none.
    """
    try:
        root = _parsed(text, media_type)
    except ContentRefused:
        return False
    if root is None or not any(map(_runs, root.iter("script"))):
        return False
    shown = (letter for part in _shown(root) for letter in part if letter.isalnum())
    return len(list(islice(shown, SHELL_MAX_LETTERS))) < SHELL_MAX_LETTERS


def _parsed(text: str, media_type: str) -> html.HtmlElement | None:
    match media_type:
        case "text/html":
            return parse_html(spared(text))
        case "application/xhtml+xml":
            return parse_xhtml(text)
        case _:
            return None


def _runs(script: etree._Element) -> bool:
    return script.get("type", "").strip().lower() not in _DATA


def _shown(root: etree._Element) -> Iterator[str]:
    """Yield the texts outside of elements that a browser with scripts doesn't show."""
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            yield element.tail or ""
        elif not isinstance(element.tag, str) or element.tag in _UNSEEN:
            walk.skip_subtree()
        else:
            yield element.text or ""
