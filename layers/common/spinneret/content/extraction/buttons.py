"""Buttons that hold content."""

from __future__ import annotations

from typing import Final

from lxml import etree

_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HOLDERS: Final = frozenset({*_HEADINGS, "summary", "dt"})
_LONG: Final = 200
"""Characters; no label of a button is as long."""


def shows_text(button: etree._Element) -> bool:
    """Accordions put headings into buttons or buttons into headings; libxml2 puts pages there."""
    parent = button.getparent()
    if parent is not None and parent.tag in _HOLDERS:
        return True
    chars = 0
    for element in button.iter(etree.Element):
        if element.tag in _HEADINGS:
            return True
        chars += len(element.text or "") + len(element.tail or "")
        if chars > _LONG:
            return True
    return False
