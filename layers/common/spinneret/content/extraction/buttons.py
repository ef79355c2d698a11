"""Buttons that contain page content."""

from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import HEADINGS

_HOLDERS: Final = frozenset({*HEADINGS, "summary", "dt"})
_LONG: Final = 200
"""Characters; labels of buttons are shorter."""
_MANY: Final = 500
"""Elements; drawings in buttons have fewer."""


def shows_text(button: etree._Element) -> bool:
    """Return whether a button contains content. Accordions nest headings and buttons, and libxml2
    may put large parts of a page into a button, with other buttons, which HTML forbids."""
    parent = button.getparent()
    if parent is not None and parent.tag in _HOLDERS:
        return True
    chars = 0
    for number, element in enumerate(button.iter(etree.Element)):
        if element.tag == "button" and number > 0:
            return True  # and each element is only read for the nearest button
        chars += len(element.text or "") + len(element.tail or "")
        if element.tag in HEADINGS or chars > _LONG or number > _MANY:
            return True
    return False
