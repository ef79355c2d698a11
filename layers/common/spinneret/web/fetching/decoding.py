"""Content codings, decoded in small steps so that a bomb is detected before it fills memory.

In addition to the page a fetch may use 32 MiB of memory. A decoder needs most of that for its
window, the output that it keeps for references: 32 KiB for gzip and deflate (RFC 1950, RFC 1951),
up to 16 MiB for br (RFC 7932, section 9.1), and for zstd the size that its head declares. Windows
grow by copying, so br takes one and a half times its window, plus its code tables. Hence:

- no window over 8 MiB. RFC 8878, section 3.1.1.1.2 recommends that decoders support this size, and
  RFC 9659 makes it the limit of the content coding zstd. The same limit applies to br: its window
  of 16 MiB is for bodies over 8 MiB, and servers use smaller ones;
- two codings, at most one of them br or zstd. RFC 9110, section 8.4 allows a list of any length;
  servers apply one, and some a second time by mistake.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol

import brotli  # type: ignore[import-untyped]  # ships no type information
from backports import zstd

from spinneret.kernel.errors import BodyTooLarge, ContentRefused, FetchFailed
from spinneret.web.fetching.windows import (
    BROTLI_HEAD_BYTES,
    ZSTD_HEAD_BYTES,
    brotli_window,
    zstd_window,
)

STEP_BYTES: Final = 64 * 1024  # maximum output of one decoder step
MAX_CODINGS: Final = 2  # see above
WINDOW_LOG: Final = 23  # see above; binary logarithm of bytes

_GZIP_START: Final = 0x1F
_GZIP_WBITS: Final = 31  # zlib: 15 bits of window, gzip header and trailer
_ZLIB_WBITS: Final = 15
_RAW_WBITS: Final = -15


class _IncompleteError(Exception):
    """Raised when the encoded data ends early."""


class _Decoder(Protocol):
    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the decoded data in pieces of about a step; some may be empty."""

    def finish(self) -> None:
        """Raise _IncompleteError unless the data so far is whole."""


def decode(
    chunks: Iterable[bytes],
    encodings: Sequence[str],
    *,
    max_bytes: int,
    checkpoint: Callable[[], object],
) -> Iterator[bytes]:
    """Decode a body that arrives in chunks; `encodings` are in the order of Content-Encoding.

    `max_bytes` bounds the body as sent, the result, and the data between two layers. The checkpoint
    is called at every step and may raise, so that decoding never outlasts the deadline. Raises
    ContentRefused at once for an unknown encoding or too many of them. While iterating, raises
    ContentRefused for a window that is too large, BodyTooLarge and, for broken data, FetchFailed.
    """
    _check(encodings)
    result = _bounded(chunks, max_bytes, checkpoint)
    for encoding in reversed(encodings):
        result = _bounded(_decoded(result, _DECODERS[encoding]()), max_bytes, checkpoint)
    return result


def parse_content_encoding(value: str) -> list[str]:
    """Return the encodings of a Content-Encoding header in lower case, without `identity`."""
    names = (name.strip().lower() for name in value.split(","))
    return [name for name in names if name and name != "identity"]


def _check(encodings: Sequence[str]) -> None:
    if len(encodings) > MAX_CODINGS:
        raise ContentRefused(f"the body has more than {MAX_CODINGS} content codings")
    if any(encoding not in _DECODERS for encoding in encodings):
        raise ContentRefused(f"the body's content coding is none of {ACCEPT_ENCODING}")
    if sum(encoding in _WINDOWED for encoding in encodings) > 1:
        raise ContentRefused("the body has more than one content coding of br and zstd")


def _bounded(
    pieces: Iterable[bytes], max_bytes: int, checkpoint: Callable[[], object]
) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        checkpoint()
        total += len(piece)
        if total > max_bytes:
            raise BodyTooLarge(
                f"the body is larger than {max_bytes} bytes", details={"max_bytes": max_bytes}
            )
        yield piece


def _decoded(pieces: Iterable[bytes], decoder: _Decoder) -> Iterator[bytes]:
    empty = True
    try:
        for piece in pieces:
            empty = empty and not piece
            yield from decoder.feed(piece)
        if not empty:  # a body of zero bytes is an empty body in every encoding
            decoder.finish()
    except (zlib.error, brotli.error, zstd.ZstdError, _IncompleteError) as error:
        raise FetchFailed("the body's encoding is broken") from error


def _inflate(inflator: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while True:
        piece = inflator.decompress(data, STEP_BYTES)
        yield piece
        data = inflator.unconsumed_tail
        # A full step may have more output pending although all input is consumed.
        if inflator.eof or (not data and len(piece) < STEP_BYTES):
            return


class _Gzip:
    """One or more members; trailing data that is no member is ignored, as in browsers."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WBITS)
        self._ended = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data and not self._ended:
            if self._member.eof:
                if data[0] != _GZIP_START:
                    self._ended = True
                    return
                self._member = zlib.decompressobj(_GZIP_WBITS)
            yield from _inflate(self._member, data)
            data = self._member.unused_data

    def finish(self) -> None:
        if not self._member.eof:
            raise _IncompleteError


class _Deflate:
    """Deflate as zlib (RFC 9110) or as a raw stream, which some servers send; two bytes decide."""

    def __init__(self) -> None:
        self._head = b""
        self._stream: zlib._Decompress | None = None

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream is None:
            data = self._head + data
            if len(data) < 2:
                self._head = data
                return
            self._stream = zlib.decompressobj(_ZLIB_WBITS if _is_zlib(data) else _RAW_WBITS)
        if not self._stream.eof:
            yield from _inflate(self._stream, data)

    def finish(self) -> None:
        if self._stream is None or not self._stream.eof:
            raise _IncompleteError


def _is_zlib(data: bytes) -> bool:
    """Whether this is a zlib head (RFC 1950): method 8, first two bytes a multiple of 31."""
    return data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0


class _Brotli:
    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        if self._stream.is_finished():
            return
        if data and not self._begun:
            self._begun = True
            _require_window(brotli_window(data[:BROTLI_HEAD_BYTES]))
        piece = self._stream.process(data, output_buffer_limit=STEP_BYTES)
        yield piece
        # All input may be consumed while output is pending: only an empty piece ends it.
        while not self._stream.is_finished() and (piece or not self._stream.can_accept_more_data()):
            piece = self._stream.process(b"", output_buffer_limit=STEP_BYTES)
            yield piece

    def finish(self) -> None:
        if not self._stream.is_finished():
            raise _IncompleteError


class _Zstd:
    """One or more frames (RFC 8878, section 3)."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._head = b""
        self._frame = zstd.ZstdDecompressor(
            options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG}
        )

    def feed(self, data: bytes) -> Iterator[bytes]:
        while data or not (self._frame.eof or self._frame.needs_input):
            if self._frame.eof:
                self._begin()
            self._head += data[: ZSTD_HEAD_BYTES - len(self._head)]
            try:
                piece = self._frame.decompress(data, STEP_BYTES)
            except zstd.ZstdError:
                _require_window(zstd_window(self._head))
                raise
            yield piece
            data = self._frame.unused_data if self._frame.eof else b""

    def finish(self) -> None:
        if not self._frame.eof:
            raise _IncompleteError


def _require_window(size: int) -> None:
    if size > 1 << WINDOW_LOG:
        raise ContentRefused(
            f"the body's content coding needs a window over {(1 << WINDOW_LOG) >> 20} MiB"
        )


_DECODERS: Final[dict[str, Callable[[], _Decoder]]] = {
    "gzip": _Gzip,
    "x-gzip": _Gzip,
    "deflate": _Deflate,
    "br": _Brotli,
    "zstd": _Zstd,
}
_WINDOWED: Final = frozenset({"br", "zstd"})
ACCEPT_ENCODING: Final = "gzip, deflate, br, zstd"
