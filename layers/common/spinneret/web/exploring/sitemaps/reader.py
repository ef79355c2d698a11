"""Read one file of a site's list of URLs while it arrives, within bounds."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import BodyTooLarge, FetchFailed
from spinneret.web.exploring.sitemaps.dates import parse_date
from spinneret.web.exploring.sitemaps.models import Ending, SitemapEntry, SitemapKind
from spinneret.web.exploring.sitemaps.xml import RawEntry, SitemapRefused, XmlReader
from spinneret.web.fetching.charsets import xml_codec
from spinneret.web.fetching.decoding import decode
from spinneret.web.fetching.urls import join_url, parse_url

_GZIP_MAGIC: Final = b"\x1f\x8b"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_BLANKS: Final = b" \t\r\n"
_HEAD_BYTES: Final = 512  # a file with more leading blanks is rejected
_LINE_END: Final = re.compile(r"[\r\n]+")
_ABSOLUTE: Final = re.compile(r"https?://", re.IGNORECASE)


def _always() -> bool:
    return True


class SitemapReader:
    """Reads one file once; `kind` and `ending` describe it afterwards.

    Files that are gzip themselves are unpacked. Their first bytes identify them, since names and
    types are often wrong. The bounds apply to the unpacked data.
    """

    def __init__(
        self,
        url: str,
        *,
        max_bytes: int = bounds.SITEMAP_MAX_BYTES,
        max_urls: int = bounds.SITEMAP_MAX_URLS,
        may_go_on: Callable[[], bool] = _always,
    ) -> None:
        self.kind = SitemapKind.UNKNOWN
        self.ending: Ending | None = None
        """None until all entries are read."""
        self._base = parse_url(url)
        self._max_bytes = max_bytes
        self._max_urls = max_urls
        self._may_go_on = may_go_on

    def read(self, chunks: Iterable[bytes]) -> Iterator[SitemapEntry]:
        """Yield the entries in order; no file content raises."""
        try:
            yield from self._entries(chunks)
            self.ending = Ending.COMPLETE
        except SitemapRefused as refused:
            self.ending = refused.ending
        except BodyTooLarge:
            self.ending = Ending.TOO_MANY_BYTES
        except FetchFailed:
            self.ending = Ending.MALFORMED

    def _entries(self, chunks: Iterable[bytes]) -> Iterator[SitemapEntry]:
        count = 0
        for raw in self._raw_entries(chunks):
            url = join_url(self._base, raw.url)
            if url is None:
                continue
            if count == self._max_urls:
                raise SitemapRefused(Ending.TOO_MANY_URLS)
            count += 1
            yield SitemapEntry(
                url=url.text,
                last_modified=parse_date(raw.date),
                is_sitemap=self.kind is SitemapKind.INDEX,
            )

    def _raw_entries(self, chunks: Iterable[bytes]) -> Iterator[RawEntry]:
        head, pieces = _peeked(self._unpacked(chunks))
        start = head.removeprefix(_BYTE_ORDER_MARK).lstrip(_BLANKS)
        if start.startswith(b"<") or head.startswith(_UTF16_MARKS):
            yield from self._of_xml(_without_blanks(pieces), xml_codec(start))
        elif _ABSOLUTE.match(start.decode("latin-1")):
            self.kind = SitemapKind.TEXT
            yield from _of_text(pieces)
        elif start:
            raise SitemapRefused(Ending.NOT_A_SITEMAP)

    def _of_xml(self, pieces: Iterable[bytes], codec: str | None) -> Iterator[RawEntry]:
        if codec is None or codec.startswith("utf-"):
            reader = XmlReader()
        else:  # the parser lacks the encodings of East Asia, and labels that pages use
            reader, pieces = XmlReader("utf-8"), _in_utf8(pieces, codec)
        try:
            for piece in pieces:
                found = reader.feed(piece)
                self.kind = reader.kind
                yield from found
            yield from reader.close()
        except SitemapRefused:
            self.kind = reader.kind
            yield from reader.taken()
            raise

    def _unpacked(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        head, pieces = _peeked(self._counted(chunks))
        if not head.startswith(_GZIP_MAGIC):
            return pieces
        return decode(pieces, ["gzip"], max_bytes=self._max_bytes, checkpoint=self._require_time)

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        total = 0
        for chunk in chunks:
            self._require_time()
            total += len(chunk)
            if total > self._max_bytes:
                raise SitemapRefused(Ending.TOO_MANY_BYTES)
            yield chunk

    def _require_time(self) -> None:
        if not self._may_go_on():
            raise SitemapRefused(Ending.OUT_OF_TIME)


def _peeked(chunks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return the first bytes, and an iterator over all bytes."""
    head = b""
    for chunk in chunks:
        head += chunk
        if len(head) >= _HEAD_BYTES:
            break
    return head, chain([head], chunks)


def _without_blanks(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Strip blanks before an XML declaration: many sites send them, and XML doesn't allow them."""
    for piece in pieces:
        mark = _BYTE_ORDER_MARK if piece.startswith(_BYTE_ORDER_MARK) else b""
        yield piece.removeprefix(mark).lstrip(_BLANKS)
        break
    yield from pieces


def _in_utf8(pieces: Iterable[bytes], codec: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for piece in pieces:
        yield decoder.decode(piece).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _of_text(pieces: Iterable[bytes]) -> Iterator[RawEntry]:
    """Yield lines that are absolute URLs; overlong lines are truncated in memory."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
    rest = ""
    for piece in pieces:
        *lines, rest = _LINE_END.split(rest + decoder.decode(piece))
        yield from _lines(lines)
        rest = rest[: 2 * bounds.URL_MAX_CHARS]
    yield from _lines([rest + decoder.decode(b"", final=True)])


def _lines(lines: Iterable[str]) -> Iterator[RawEntry]:
    return (RawEntry(line.strip(), "") for line in lines if _ABSOLUTE.match(line.strip()))
