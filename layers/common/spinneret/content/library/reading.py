"""Uploads as content, by media type."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from spinneret.content.extraction.models import Content
from spinneret.content.extraction.pages import extract
from spinneret.content.library.models import MediaType
from spinneret.kernel.errors import ContentRefused

_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_HEADING: Final = re.compile(r"^#[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)

Read = Callable[[bytes, str], Content]
"""(body, URL) → content; raises ContentRefused."""


def content_of(body: bytes, media_type: MediaType, url: str, title: str | None) -> Content:
    """What an upload holds; a title that was given is its title. Raises ContentRefused."""
    content = _READERS[media_type](body, url)
    return content if title is None else replace(content, title=title)


def _plain(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/plain", url)


def _html(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/html", url)


def _markdown(body: bytes, _url: str) -> Content:
    """Its own markdown; the first heading of the first level is its title."""
    text = _CONTROLS.sub("", _BREAKS.sub("\n", _text(body)))
    if not any(map(str.isalnum, text)):
        raise ContentRefused("the document holds no text", details={"reason": "empty"})
    heading = _HEADING.search(text)
    return Content(
        title=heading.group(1) if heading else None,
        markdown=unicodedata.normalize("NFC", text),
        language="und",
    )


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentRefused("the text is not UTF-8", details={"reason": "charset"}) from error


_READERS: Final[Mapping[MediaType, Read]] = {
    MediaType.PLAIN: _plain,
    MediaType.MARKDOWN: _markdown,
    MediaType.HTML: _html,
}
