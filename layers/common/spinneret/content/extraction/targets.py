"""Targets of links and images in Markdown, and text without them.

The renderer escapes every `]` of a page's text before a bracket, so anything that looks like a link
is one. Example links in code lose their target, too; this is harmless, as only embedding reads the
result.
"""

import re
from collections.abc import Iterator
from typing import Final

# Labels end at brackets, so that every character is read once. Images are removed before the links
# that contain them.
_IMAGE: Final = re.compile(r"(?<!\\)!\[((?:[^\[\]\\\n]|\\.)*+)\]\([^()\s]*\)")
_LINK: Final = re.compile(r"(?<!\\)\[((?:[^\[\]\\\n]|\\.)*+)\]\([^()\s]*\)")
_TARGET: Final = re.compile(r"(?<!\\)\]\([^()\s]*\)")


def without_targets(markdown: str) -> str:
    """Replace links by their labels and remove images, whose descriptions on cards repeat the
    label.

    A link whose start is missing from the text loses its target, too.
    """
    if "](" not in markdown:
        return markdown
    return _TARGET.sub("", _LINK.sub(r"\1", _IMAGE.sub("", markdown)))


def without_addresses(markdown: str) -> str:
    """Remove every `](target)`, and keep the labels of links and images."""
    return _TARGET.sub("", markdown)


def target_spans(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of every `](target)`, in order."""
    return (match.span() for match in _TARGET.finditer(markdown))
