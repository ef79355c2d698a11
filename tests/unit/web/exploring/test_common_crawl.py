"""Requests to Common Crawl's index, and its responses."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.web.exploring import limits
from spinneret.web.exploring.common_crawl import (
    Capture,
    CaptureReader,
    capture_query,
    indexes_of,
    newest_first,
)
from spinneret.web.fetching.urls import parse_url

SITE = "https://site.example"


def line(**given: Any) -> bytes:
    fields = {"url": f"{SITE}/a", "timestamp": "20260102030405", "status": "200"}
    return json.dumps({**fields, "mime": "text/html", **given}).encode() + b"\n"


def read(content: bytes, size: int = 7, **given: int) -> tuple[list[Capture], CaptureReader]:
    reader = CaptureReader(**given)  # type: ignore[arg-type]  # bounds only
    return list(reader.read(content[n : n + size] for n in range(0, len(content), size))), reader


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_captures_are_read_whatever_their_chunks(size: int) -> None:
    content = line() + b"\r\n" + line(url=f"{SITE}/b#x", status="301", timestamp="x")[:-1]
    captures, reader = read(content, size)
    assert captures == [
        Capture(
            url=parse_url(f"{SITE}/a"),
            fetched_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            status=200,
            media_type="text/html",
        ),
        Capture(url=parse_url(f"{SITE}/b"), fetched_at=None, status=301, media_type="text/html"),
    ]
    assert (reader.bad_lines, reader.is_cut_off) == (0, False)


def test_lines_of_an_index_file_are_read_too() -> None:
    content = b'example,site)/a 20260102030405 {"url": "https://site.example/a", "mime": "X"}'
    [capture], _ = read(content)
    assert capture.fetched_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (capture.status, capture.media_type) == (None, "x")


@pytest.mark.parametrize(
    "bad",
    [
        b'{"message": "No Captures found for: site.example/*"}',
        *(b"<html>502</html>", b"null", b"[]", b"{}", b'{"url": 7}', b'{"url": null}', b'"url"'),
        *(b'{"url": "ftp://a/"}', b'{"url": "https://a/"', b"\xff\xfe", b"{" * 5000, b"[" * 5000),
        line(url=f"{SITE}/{'x' * limits.CDX_LINE_MAX_BYTES}"),
    ],
)
def test_a_line_that_is_no_capture_is_counted(bad: bytes) -> None:
    captures, reader = read(line() + bad.strip() + b"\n" + line(), 1000)
    assert (len(captures), reader.bad_lines) == (2, 1)


@pytest.mark.parametrize("given", [{"status": 200}, {"status": "2 0"}, {"status": "-"}, {}])
def test_fields_that_make_no_sense_are_left_out(given: dict[str, Any]) -> None:
    [capture], _ = read(line(**{"timestamp": "20261399000000", "mime": 7, **given}))
    assert (capture.fetched_at, capture.media_type) == (None, None)
    assert capture.status == (200 if not given else None)


def test_an_answer_has_a_bounded_size() -> None:
    captures, reader = read(line() * 5, 1000, max_captures=4)
    assert (len(captures), reader.is_cut_off) == (4, True)
    captures, reader = read(line() * 5, 10, max_bytes=len(line()) * 3 + 5)
    assert (len(captures), reader.is_cut_off) == (3, True)
    captures, reader = read(line() * 5, 10, max_captures=5)
    assert (len(captures), reader.is_cut_off) == (5, False)


def test_reading_stops_when_there_is_no_time() -> None:
    turns = iter([True, False])
    reader = CaptureReader(may_go_on=lambda: next(turns))
    assert len(list(reader.read([line(), line()]))) == 1
    assert reader.is_cut_off


def test_a_line_without_end_is_not_kept() -> None:
    def endless() -> Iterator[bytes]:
        yield line()
        for _ in range(700):
            yield b"x" * 65_536

    reader = CaptureReader()
    assert len(list(reader.read(endless()))) == 1
    assert reader.bad_lines == 1


def test_the_newest_capture_of_each_url_comes_first() -> None:
    content = b"".join(
        [
            line(url=f"{SITE}/a", timestamp="20200101000000"),
            line(url=f"{SITE}/b", timestamp="20230101000000"),
            line(url=f"{SITE}/a", timestamp="20250101000000"),
            line(url=f"{SITE}/c", timestamp=""),
        ]
    )
    captures, _ = read(content)
    assert [capture.url.path for capture in newest_first(captures)] == ["/a", "/b", "/c"]


def test_an_index_is_asked_for_pages_of_a_host() -> None:
    query = capture_query("https://index.example/CC-1-index", "site.example", 7)
    assert query.startswith("https://index.example/CC-1-index?")
    asked = parse_qsl(urlsplit(query).query)
    assert ("url", "site.example") in asked
    assert ("matchType", "domain") in asked
    assert ("limit", "7") in asked
    assert ("output", "json") in asked


@pytest.mark.parametrize(
    ("collinfo", "expected"),
    [
        (b'[{"id": "2", "cdx-api": "https://i/2"}, {"cdx-api": "https://i/1"}]', 2),
        *((b"[{}, 7, null]", 0), (b"{}", 0), (b"", 0), (b"[" * 100_000, 0), (b"\xff", 0)),
    ],
)
def test_crawls_are_listed(collinfo: bytes, expected: int) -> None:
    assert len(indexes_of(collinfo)) == expected


@given(st.binary(max_size=200))
def test_nothing_in_an_answer_raises(content: bytes) -> None:
    read(content)
    read(b'a 1 {"url": "https://a.example/", "timestamp": ' + content + b"}")
    indexes_of(content)
