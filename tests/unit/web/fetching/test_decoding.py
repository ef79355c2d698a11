import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from functools import partial

import brotli  # type: ignore[import-untyped]  # ships no type information
import pytest
from backports import zstd

from spinneret.kernel.errors import BodyTooLarge, ContentRefused, FetchFailed, FetchTimeout
from spinneret.web.fetching.decoding import STEP_BYTES, decode, parse_content_encoding
from spinneret.web.fetching.windows import brotli_window, zstd_window

MEGABYTE = 1024 * 1024
TEXT = b"The quick brown fox. " * 10_000


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-15)
    return compressor.compress(data) + compressor.flush()


def with_window(encoding: str, bits: int, data: bytes) -> bytes:
    """Compress as a stream, with a window of `1 << bits` bytes.

    A single call would reduce the window to the size of the data.
    """
    if encoding == "br":
        brotli_stream = brotli.Compressor(quality=4, lgwin=bits)
        return bytes(brotli_stream.process(data) + brotli_stream.finish())
    options: dict[int, int] = {zstd.CompressionParameter.window_log: bits}
    stream = zstd.ZstdCompressor(options=options)
    return stream.compress(data) + stream.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": partial(brotli.compress, quality=4),  # the default is slow
    "zstd": zstd.compress,
}


def in_chunks(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def pieces_of(
    data: bytes, *encodings: str, max_bytes: int = 10 * MEGABYTE, size: int = STEP_BYTES
) -> list[bytes]:
    chunks = in_chunks(data, size)
    return list(decode(chunks, encodings, max_bytes=max_bytes, checkpoint=lambda: None))


@pytest.mark.parametrize("size", [1, 7, 1000, 10 * MEGABYTE])
@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"x", TEXT),
        *(
            pytest.param(data, marks=pytest.mark.heavy)
            for data in (os.urandom(100_000), bytes(3 * MEGABYTE))
        ),
    ],
)
def test_a_body_comes_back_however_it_is_cut(encoding: str, size: int, data: bytes) -> None:
    assert b"".join(pieces_of(ENCODERS[encoding](data), encoding, size=size)) == data


@pytest.mark.parametrize("size", [1, 1000])
def test_deflate_without_its_zlib_frame_is_read_too(size: int) -> None:
    assert b"".join(pieces_of(raw_deflate(TEXT), "deflate", size=size)) == TEXT


def test_a_body_comes_back_whatever_its_length_beside_a_step() -> None:
    """The decoder may still hold output when it has consumed all input and the step is full."""
    for length in range(STEP_BYTES, STEP_BYTES + 300):
        assert b"".join(pieces_of(raw_deflate(bytes(length)), "deflate")) == bytes(length)


@pytest.mark.parametrize(
    "layers", [("gzip", "gzip"), ("gzip", "br"), ("zstd", "gzip"), ("deflate", "gzip")]
)
def test_layers_are_undone_in_reverse(layers: tuple[str, ...]) -> None:
    data = TEXT
    for encoding in layers:
        data = ENCODERS[encoding](data)
    assert b"".join(pieces_of(data, *layers)) == TEXT


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
@pytest.mark.parametrize("size", [1, 10 * MEGABYTE])
def test_several_members_are_one_body(encoding: str, size: int) -> None:
    data = ENCODERS[encoding](b"one ") + ENCODERS[encoding](b"") + ENCODERS[encoding](b"two")
    assert b"".join(pieces_of(data, encoding, size=size)) == b"one two"


def test_what_follows_a_gzip_member_and_is_none_is_ignored() -> None:
    assert b"".join(pieces_of(gzip.compress(TEXT) + b"\0\0padding", "gzip")) == TEXT


@pytest.mark.parametrize("encoding", ENCODERS)
def test_no_step_yields_much_more_than_it_is_asked_for(encoding: str) -> None:
    pieces = pieces_of(ENCODERS[encoding](bytes(8 * MEGABYTE)), encoding)
    assert max(map(len, pieces)) <= 2 * STEP_BYTES  # brotli grows its buffer in blocks


# covers F-01
@pytest.mark.parametrize("encoding", ENCODERS)
def test_an_expanding_body_is_stopped_at_the_limit(encoding: str) -> None:
    bomb = ENCODERS[encoding](bytes(10 * MEGABYTE))
    pieces = decode([bomb], [encoding], max_bytes=MEGABYTE, checkpoint=lambda: None)
    received: list[int] = []
    with pytest.raises(BodyTooLarge) as refusal:
        received.extend(map(len, pieces))
    assert sum(received) <= MEGABYTE
    assert refusal.value.details == {"max_bytes": MEGABYTE}


def test_a_layer_that_expands_only_in_between_is_stopped_too() -> None:
    nothing = raw_deflate(b"")
    inner = b"\0\0\0\xff\xff" * (MEGABYTE // 5) * 4 + nothing  # 4 MB of empty stored blocks
    assert b"".join(pieces_of(inner, "deflate")) == b""
    with pytest.raises(BodyTooLarge):
        pieces_of(zlib.compress(inner), "deflate", "deflate", max_bytes=MEGABYTE)


def test_the_body_as_sent_is_bounded() -> None:
    assert b"".join(pieces_of(b"x" * 100, max_bytes=100)) == b"x" * 100
    with pytest.raises(BodyTooLarge):
        pieces_of(b"x" * 101, max_bytes=100)
    with pytest.raises(BodyTooLarge):
        pieces_of(gzip.compress(b"") * 10, "gzip", max_bytes=100)


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_body_of_empty_members_passes_checkpoints(encoding: str) -> None:
    passed = 0

    def checkpoint() -> None:
        nonlocal passed
        passed += 1
        if passed > 1000:
            raise FetchTimeout("the deadline")

    body = ENCODERS[encoding](b"") * 5000
    with pytest.raises(FetchTimeout):
        list(decode([body], [encoding], max_bytes=MEGABYTE, checkpoint=checkpoint))


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("damage", ["cut", "wrong", "other"])
def test_a_broken_body_is_a_failure(encoding: str, damage: str) -> None:
    whole = ENCODERS[encoding](os.urandom(1000))
    broken = {"cut": whole[:-5], "wrong": b"\x07" + whole, "other": b"<!doctype html>"}[damage]
    with pytest.raises(FetchFailed):
        pieces_of(broken, encoding)


@pytest.mark.parametrize("size", [1, 7, 10 * MEGABYTE])
@pytest.mark.parametrize(("encoding", "bits"), [("br", 23), ("zstd", 23), ("br", 24), ("zstd", 24)])
def test_a_window_is_taken_up_to_8_mebibytes(encoding: str, bits: int, size: int) -> None:
    body = with_window(encoding, bits, TEXT)
    if bits == 23:
        assert b"".join(pieces_of(body, encoding, size=size)) == TEXT
        return
    with pytest.raises(ContentRefused, match="window over 8 MiB"):
        pieces_of(body, encoding, size=size)


@pytest.mark.parametrize("first", [b"", b"one "])
def test_the_window_of_every_zstd_frame_counts(first: bytes) -> None:
    body = zstd.compress(first) + with_window("zstd", 24, TEXT)
    with pytest.raises(ContentRefused):
        pieces_of(body, "zstd")


def test_windows_are_as_large_as_their_streams_say() -> None:
    for bits in range(17, 25):
        assert brotli_window(with_window("br", bits, TEXT)) == 1 << bits
    for bits in range(10, 28):
        assert zstd_window(with_window("zstd", bits, TEXT)) == 1 << bits
    for size in (1, 300, 70_000):  # a single segment: the window has the size of the content
        assert zstd_window(zstd.compress(bytes(size))) == size
    assert zstd_window(bytes.fromhex("28b52ffd 00 8d")) == (1 << 27) // 8 * 13
    assert zstd_window(b"<!doctype html>") == zstd_window(zstd.compress(TEXT)[:5]) == 0


@pytest.mark.parametrize(
    ("encodings", "limit"),
    [
        (["compress"], "none of gzip, deflate, br, zstd"),
        (["gzip", "sdch"], "none of gzip, deflate, br, zstd"),
        ([""], "none of gzip, deflate, br, zstd"),
        (["gzip"] * 3, "more than 2"),
        (["br"] * 200, "more than 2"),
        (["br", "br"], "more than one"),
        (["zstd", "br"], "more than one"),
    ],
)
def test_an_encoding_that_cannot_be_undone_is_refused_at_once(
    encodings: list[str], limit: str
) -> None:
    def body() -> Iterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    with pytest.raises(ContentRefused, match=limit):
        decode(body(), encodings, max_bytes=100, checkpoint=lambda: None)


@pytest.mark.parametrize(
    ("value", "encodings"),
    [
        ("", []),
        ("identity", []),
        ("GZIP", ["gzip"]),
        (" gzip ,, br, Identity", ["gzip", "br"]),
    ],
)
def test_content_encoding_is_a_list(value: str, encodings: list[str]) -> None:
    assert parse_content_encoding(value) == encodings
