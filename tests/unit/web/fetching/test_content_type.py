import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.web.fetching.content_type import parse_content_type, sniff_media_type


@pytest.mark.parametrize(
    ("value", "media_type", "charset"),
    [
        ("text/html", "text/html", None),
        ("Text/HTML; Charset=UTF-8", "text/html", "UTF-8"),
        ('text/html;charset="utf-8"', "text/html", "utf-8"),
        ("text/html; charset='utf-8'", "text/html", "utf-8"),
        ("text/html; q=1; charset = koi8-r ; x=y", "text/html", "koi8-r"),
        ("text/html; charset=", "text/html", None),
        ("text/html; xcharset=utf-8", "text/html", None),
        ("application/atom+xml", "application/atom+xml", None),
        ("text/html, application/json", "text/html", None),
        ("a" * 127 + "/" + "b" * 127, "a" * 127 + "/" + "b" * 127, None),
        ("a" * 128 + "/b", "", None),
        ("a/" + "b" * 128, "", None),
        ("", "", None),
        ("html", "", None),
        ("; charset=utf-8", "", None),
    ],
)
def test_the_header_has_a_media_type_and_a_charset(
    value: str, media_type: str, charset: str | None
) -> None:
    assert parse_content_type(value) == (media_type, charset)


@given(st.text())
def test_any_header_value_is_taken(value: str) -> None:
    assert isinstance(parse_content_type(value), tuple)


@pytest.mark.parametrize(
    "head",
    [b"<!DOCTYPE html>", b"  \n<html lang=en>", b"\xef\xbb\xbf<HEAD>", b"<!-- x --><p>", b"<p>"],
)
def test_a_body_that_begins_as_html_is_html(head: bytes) -> None:
    assert sniff_media_type(head) == "text/html"


@pytest.mark.parametrize(
    "head", [b"", b"%PDF-1.7", b"plain", b"<?xml version", b"<aside>", b"<", b"\0<html>", b"{}"]
)
def test_any_other_body_is_unknown(head: bytes) -> None:
    assert sniff_media_type(head) == "application/octet-stream"
