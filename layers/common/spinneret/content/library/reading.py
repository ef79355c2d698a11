"""Reads uploads as content, by media type."""

import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from spinneret.content import limits
from spinneret.content.chunking.structure import Structure
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.page_metadata import MAX_VALUE_CHARS
from spinneret.content.extraction.pages import extract
from spinneret.content.library.models import MediaType
from spinneret.kernel.errors import ContentRefused
from spinneret.kernel.unicode import composed

_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_BREAKS: Final = re.compile(r"\r\n?|[\u2028\u2029]")
_FIRST_LEVEL: Final = re.compile(r" {0,3}#[ \t]")

Read = Callable[[bytes, str], Content]
"""Function from (body, URL) to content; raises ContentRefused."""


def content_of(body: bytes, media_type: MediaType, url: str, title: str | None) -> Content:
    """Return an upload's content; a given title replaces its own. Raise ContentRefused."""
    content = _READERS[media_type](body, url)
    return replace(content, title=_clean(content.title) if title is None else title)


def _clean(title: str | None) -> str | None:
    """Return a file's own title on one line; None if it is empty or too long for a title."""
    text = " ".join(_CONTROLS.sub("", title or "").split())
    return text if 0 < len(text) <= MAX_VALUE_CHARS else None


def _plain(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/plain", url)


def _html(body: bytes, url: str) -> Content:
    return extract(_text(body), "text/html", url)


def _markdown(body: bytes, _url: str) -> Content:
    """Return the Markdown itself; its first level-1 heading outside of code is the title."""
    text = _CONTROLS.sub("", _BREAKS.sub("\n", _text(body)))
    if not any(map(str.isalnum, text)):
        raise ContentRefused("the document holds no text", details={"reason": "empty"})
    headings = (
        line.heading
        for line in Structure(text).lines
        if line.heading is not None and _FIRST_LEVEL.match(text, line.start)
    )
    return Content(
        title=next(headings, None),
        markdown=composed(text),
        language="und",
    )


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ContentRefused("the text is not UTF-8", details={"reason": "charset"}) from error


def _pdf(body: bytes, url: str) -> Content:
    """Return the text that pypdf extracts from each page; text in pictures is lost."""
    # The import is heavy and only needed for these uploads, so it is deferred.
    from pypdf import PdfReader  # noqa: PLC0415

    with _parsing("PDF"):
        reader = PdfReader(BytesIO(body), strict=False)
        if reader.is_encrypted:
            raise _unreadable("the file is encrypted", "encrypted")
        if len(reader.pages) > limits.PDF_PAGES_MAX:
            raise _unreadable(f"a file has at most {limits.PDF_PAGES_MAX} pages", "too_complex")
        texts = [page.extract_text().strip() for page in reader.pages]
        title = reader.metadata.title if reader.metadata else None
    text = "\n\n".join(each for each in texts if each)
    return replace(extract(text, "text/plain", url), title=title)


def _docx(body: bytes, url: str) -> Content:
    """Convert to HTML with mammoth, without pictures, and extract the content."""
    import mammoth  # noqa: PLC0415 - see _pdf

    with _parsing("DOCX"):
        converted = mammoth.convert_to_html(
            _unpacked(body), convert_image=mammoth.images.img_element(lambda _: {"src": ""})
        )
    content = extract(f"<html><body><main>{converted.value}</main></body></html>", "text/html", url)
    return replace(content, extraction=None)


def _unpacked(body: bytes) -> BytesIO:
    """Return the parts of a Word file that are markup, within bounds, for a parser that has none.

    The parser keeps half a kilobyte for each element. A document type may multiply elements by
    entities; decompressors other than deflate return all their output at once.
    """
    plain, size, tags = BytesIO(), 0, 0
    with ZipFile(BytesIO(body)) as packed, ZipFile(plain, "w") as unpacked:
        for name in dict.fromkeys(packed.namelist()):
            if not name.endswith((".xml", ".rels")):
                continue
            if packed.getinfo(name).compress_type not in (ZIP_STORED, ZIP_DEFLATED):
                raise _unreadable("the file has an unusual compression", "malformed")
            with packed.open(name) as part:
                markup = part.read(limits.DOCX_MAX_BYTES + 1 - size)
            size += len(markup)
            tags += markup.count(b"<")
            if size > limits.DOCX_MAX_BYTES or tags > limits.DOCX_MAX_TAGS:
                raise _unreadable("the file is too large when unpacked", "too_complex")
            if b"<!DOCTYPE" in markup.replace(b"\0", b""):
                raise _unreadable("the file has a document type", "malformed")
            unpacked.writestr(name, markup)
    return plain


class _OverdueError(BaseException):
    """Not an Exception, since parsers continue after those."""


@contextmanager
def _parsing(name: str) -> Iterator[None]:
    """Refuse a file that its parser can't read, or not in time. Only for the main thread.

    A file of one kilobyte may name one form for thousands of times on each of its pages.
    """

    is_reading = True

    def interrupt(*_: object) -> None:
        if is_reading:
            raise _OverdueError

    former = signal.signal(signal.SIGALRM, interrupt)
    # Again and again, since Python ignores what is raised in a finalizer.
    signal.setitimer(signal.ITIMER_REAL, limits.PARSE_SECONDS, 0.1)
    try:
        yield
    except (ContentRefused, MemoryError):
        raise
    except _OverdueError as error:
        is_reading = False
        raise _unreadable("the file takes too long to read", "too_complex") from error
    except Exception as error:  # third-party parsers fail on broken files with any exception
        raise _unreadable(f"the file is not a readable {name}", "malformed") from error
    finally:
        is_reading = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def _unreadable(why: str, reason: str) -> ContentRefused:
    return ContentRefused(why, details={"reason": reason})


_READERS: Final[Mapping[MediaType, Read]] = {
    MediaType.PLAIN: _plain,
    MediaType.MARKDOWN: _markdown,
    MediaType.HTML: _html,
    MediaType.PDF: _pdf,
    MediaType.DOCX: _docx,
}
