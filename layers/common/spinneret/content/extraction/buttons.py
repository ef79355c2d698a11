"""Buttons that contain page content."""

from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import HEADINGS

_HOLDERS: Final = frozenset({*HEADINGS, "summary", "dt"})
_LONG: Final = 200
"""Characters; labels of buttons are shorter."""
_MANY: Final = 500
"""Elements; drawings in buttons have fewer. Buttons inside each other would share more of them."""


def shows_text(button: etree._Element) -> bool:
    """Return whether a button contains content. Accordions nest headings and buttons, and libxml2
    may put large parts of a page into a button."""
    parent = button.getparent()
    if parent is not None and parent.tag in _HOLDERS:
        return True
    chars = 0
    for number, element in enumerate(button.iter(etree.Element)):
        chars += len(element.text or "") + len(element.tail or "")
        if element.tag in HEADINGS or chars > _LONG or number > _MANY:
            return True
    return False
