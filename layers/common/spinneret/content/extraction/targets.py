"""Targets of links and images in markdown, and text without them.

The renderer escapes every `]` of a page's text before a bracket, so that what reads as a link is
one. Inside code, an example of a link loses its target, too: harmless, as only embedding reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# Labels stop at brackets, so that every character is read once; images come before the links that
# hold them.
_IMAGE: Final = re.compile(r"(?<!\\)!\[((?:[^\[\]\\\n]|\\.)*+)\]\([^()\s]*\)")
_LINK: Final = re.compile(r"(?<!\\)\[((?:[^\[\]\\\n]|\\.)*+)\]\([^()\s]*\)")
_TARGET: Final = re.compile(r"(?<!\\)\]\([^()\s]*\)")


def without_targets(markdown: str) -> str:
    """Links as their labels, without images: on cards, descriptions say the label once more.

    A link of which the text holds the end only loses its target, too.
    """
    return _TARGET.sub("", _LINK.sub(r"\1", _IMAGE.sub("", markdown)))


def target_spans(markdown: str) -> Iterator[tuple[int, int]]:
    """Start and end of every `](target)`, in order."""
    return (match.span() for match in _TARGET.finditer(markdown))
