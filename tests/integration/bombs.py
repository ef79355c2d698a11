"""Compressed bodies that take as much of a decoder's memory as possible, generated piece by piece.

A coding is named as in Content-Encoding; br and zstd also with the bits of their window ("br 24").
"""

import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from random import Random
from typing import Final, Protocol

import brotli  # type: ignore[import-untyped]  # ships no type information
from backports import zstd

_SEGMENT: Final = 4 * 1024 * 1024  # a decoder's window grows in several steps to its largest size


class _Compressor(Protocol):
    def step(self, data: bytes) -> bytes:
        """Compress the data, and flush, so that a decoder can decode all of it at once."""
        ...

    def end(self) -> bytes:
        """Return the bytes that complete the stream."""
        ...


class _Deflate:
    def __init__(self, wbits: int) -> None:
        self._stream = zlib.compressobj(level=1, wbits=wbits)

    def step(self, data: bytes) -> bytes:
        return self._stream.compress(data) + self._stream.flush(zlib.Z_FULL_FLUSH)

    def end(self) -> bytes:
        return self._stream.flush()


class _Brotli:
    def __init__(self, window_bits: int) -> None:
        self._stream = brotli.Compressor(quality=5, lgwin=window_bits)

    def step(self, data: bytes) -> bytes:
        compressed: bytes = self._stream.process(data) + self._stream.flush()
        return compressed

    def end(self) -> bytes:
        last: bytes = self._stream.finish()
        return last


class _Zstd:
    def __init__(self, window_bits: int) -> None:
        options: dict[int, int] = {zstd.CompressionParameter.window_log: window_bits}
        self._stream = zstd.ZstdCompressor(options=options)

    def step(self, data: bytes) -> bytes:
        return self._stream.compress(data, mode=zstd.ZstdCompressor.FLUSH_BLOCK)

    def end(self) -> bytes:
        return self._stream.flush()


_COMPRESSORS: Final[dict[str, Callable[[], _Compressor]]] = {
    "gzip": partial(_Deflate, 31),
    "deflate": partial(_Deflate, 15),
    **{f"br {bits}": partial(_Brotli, bits) for bits in (22, 23, 24)},
    **{f"zstd {bits}": partial(_Zstd, bits) for bits in (22, 23, 24)},
}


def bomb(codings: Sequence[str], size: int) -> Iterator[bytes]:
    """Yield at least `size` zeros, compressed by the codings in their order, in a few kilobytes.

    The innermost stream has no end, because no decoder should read that far.
    """
    first, *outer = codings
    return _under(outer, _zeros(first, size))


def ballast(codings: Sequence[str], size: int) -> Iterator[bytes]:
    """Yield a complete body of incompressible data, so that it fills the window of every coding."""
    noise = Random(size)
    segments = range(0, size, _SEGMENT)
    return _under(codings, (noise.randbytes(min(_SEGMENT, size - begun)) for begun in segments))


def names(codings: Sequence[str]) -> str:
    """Return the value of the Content-Encoding header."""
    return ", ".join(coding.partition(" ")[0] for coding in codings)


def _zeros(coding: str, size: int) -> Iterator[bytes]:
    start, repeated = _repeatable(coding)
    yield start
    yield from itertools.repeat(repeated, size // _SEGMENT)


@cache
def _repeatable(coding: str) -> tuple[bytes, bytes]:
    """Return the start of a stream, and a repeatable piece that adds one more segment of zeros."""
    compressor, zeros = _COMPRESSORS[coding](), bytes(_SEGMENT)
    start = compressor.step(zeros) + compressor.step(zeros)
    repeated = compressor.step(zeros)
    assert compressor.step(zeros) == repeated
    return start, repeated


def _under(codings: Sequence[str], pieces: Iterator[bytes]) -> Iterator[bytes]:
    for coding in codings:
        pieces = _encoded(coding, pieces)
    return pieces


def _encoded(coding: str, pieces: Iterator[bytes]) -> Iterator[bytes]:
    compressor = _COMPRESSORS[coding]()
    held: list[bytes] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= _SEGMENT // 16:
            yield compressor.step(b"".join(held))
            held.clear()
    yield compressor.step(b"".join(held)) + compressor.end()
