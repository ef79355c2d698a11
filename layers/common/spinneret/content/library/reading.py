"""Reads uploads as content, by media type."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Final
from xml.parsers.expat import ExpatError
from zipfile import BadZipFile, ZipFile

from spinneret.content import limits
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.pages import extract
from spinneret.content.library.models import MediaType
from spinneret.kernel.errors import ContentRefused

_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_HEADING: Final = re.compile(r"^#[ \t]++(\S.*)$", re.MULTILINE)

Read = Callable[[bytes, str], Content]
"""Function from (body, URL) to content; raises ContentRefused."""


def content_of(body: bytes, media_type: MediaType, url: str, title: str | None) -> Content:
    """Return an upload's content; a given title replaces its own. Raise ContentRefused."""
    content = _READERS[media_type](body, url)
    return content if title is None else replace(content, title=title)


def _plain(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/plain", url)


def _html(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/html", url)


def _markdown(body: bytes, _url: str) -> Content:
    """Return the Markdown itself; the first level-1 heading is the title."""
    text = _CONTROLS.sub("", _BREAKS.sub("\n", _text(body)))
    if not any(map(str.isalnum, text)):
        raise ContentRefused("the document holds no text", details={"reason": "empty"})
    heading = _HEADING.search(text)
    return Content(
        title=_heading_text(heading.group(1)) if heading else None,
        markdown=unicodedata.normalize("NFC", text),
        language="und",
    )


def _heading_text(line: str) -> str:
    """Return a heading without its closing marks, which follow a blank (CommonMark)."""
    text = line.rstrip(" \t")
    bare = text.rstrip("#")
    return bare.rstrip(" \t") if bare.endswith((" ", "\t")) else text


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentRefused("the text is not UTF-8", details={"reason": "charset"}) from error


def _pdf(body: bytes, _url: str) -> Content:
    """Return the text that pypdf extracts from each page; text in pictures is lost."""
    # The import is heavy and only needed for these uploads, so it is deferred.
    from pypdf import PdfReader  # noqa: PLC0415
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(BytesIO(body), strict=False)
        if reader.is_encrypted:
            raise _unreadable("the file is encrypted", "encrypted")
        if len(reader.pages) > limits.PDF_PAGES_MAX:
            raise _unreadable(f"a file has at most {limits.PDF_PAGES_MAX} pages", "too_complex")
        texts = [page.extract_text().strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    except (PyPdfError, ValueError, KeyError, TypeError, RecursionError, OSError) as error:
        raise _unreadable("the file is not a readable PDF", "malformed") from error
    text = "\n\n".join(each for each in texts if each)
    content = extract(text, "text/plain", _url)
    return replace(content, title=(title or "").strip() or None)


def _docx(body: bytes, url: str) -> Content:
    """Convert to HTML with mammoth, without pictures, and extract the content."""
    import mammoth  # noqa: PLC0415 - see _pdf

    try:
        with ZipFile(BytesIO(body)) as packed:
            size = sum(each.file_size for each in packed.infolist())
        if size > limits.DOCX_MAX_BYTES:
            raise _unreadable("the file is too large when unpacked", "too_complex")
        converted = mammoth.convert_to_html(
            BytesIO(body), convert_image=mammoth.images.img_element(lambda _: {"src": ""})
        )
    except (BadZipFile, ValueError, KeyError, RecursionError, ExpatError) as error:
        raise _unreadable("the file is not a readable DOCX", "malformed") from error
    content = extract(f"<html><body><main>{converted.value}</main></body></html>", "text/html", url)
    return replace(content, extraction=None)


def _unreadable(why: str, reason: str) -> ContentRefused:
    return ContentRefused(why, details={"reason": reason})


_READERS: Final[Mapping[MediaType, Read]] = {
    MediaType.PLAIN: _plain,
    MediaType.MARKDOWN: _markdown,
    MediaType.HTML: _html,
    MediaType.PDF: _pdf,
    MediaType.DOCX: _docx,
}
