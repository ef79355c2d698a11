"""URL patterns: matches, refused patterns, and bounded matching time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from spinneret.web.exploring.globs import Glob, compile_patterns
from spinneret.web.fetching.urls import parse_url
from tests.rows import each_row

SITE = "https://site.example"


@each_row(
    (ascii(row), row)
    for row in [
        ("/docs", "/docs", True),
        ("/docs", "/docs/", False),
        ("/docs", "/Docs", False),
        ("/docs/*", "/docs/a", True),
        ("/docs/*", "/docs/", True),
        ("/docs/*", "/docs/a/b", False),
        ("/docs/**", "/docs/a/b", True),
        ("/docs/**", "/docs", False),
        ("/**/print", "/a/b/print", True),
        ("**/print", "/print", True),
        ("docs/*", "/docs/a", True),
        ("docs/*", "/old/docs/a", False),
        ("*.pdf", "/a.pdf", True),
        ("*.pdf", "/a/b/c.pdf", True),
        ("*.pdf", "/a.pdf.html", False),
        ("*.pdf", "/a.pdf?download=1", True),
        ("/item-??", "/item-42", True),
        ("/item-??", "/item-4", False),
        ("/item?x", "/item/x", False),
        ("/search?q=*", "/search?q=silk", True),
        ("/search?q=*", "/search", False),
        ("/*/*.html", "/a/b.html", True),
        ("/*a*a*b", "/xaxaab", True),
        ("/*a*a*b", "/xab", False),
        ("/**a*b", "/a/xab", True),
        ("/a.c", "/abc", False),
        ("/bücher/*", "/b%C3%BCcher/x", True),
        ("https://site.example/*", "/a", True),
        ("HTTPS://Site.Example/A", "/A", True),
        ("*://*.example/**", "/a/b?c", True),
        ("https://other.example/**", "/a", False),
        ("https://Bücher.example/*", "https://bücher.example/a", True),
        ("https://*.bücher.example:8080/*", "https://a.bücher.example:8080/b", True),
        ("https://*.РФ:8080/*", "https://a.рф:8080/b", True),
    ]
)
def test_a_pattern_covers(row: tuple[str, str, bool]) -> None:
    pattern, target, covers = row
    patterns = compile_patterns([pattern], "include")
    url = SITE + target if target.startswith("/") else target
    assert patterns.match(parse_url(url)) is covers


@pytest.mark.parametrize(
    "pattern",
    ["", " ", "/a b", "/a\n", "/a/***/b", "x" * (bounds.URL_PATTERN_MAX_CHARS + 1)],
)
def test_what_is_no_pattern_is_refused_by_its_place(pattern: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        compile_patterns(["/fine", pattern], "exclude")
    [field] = refused.value.details["fields"]
    assert field["path"] == "exclude.1"


def test_more_patterns_than_the_bound_are_refused() -> None:
    with pytest.raises(ValidationFailed):
        compile_patterns(["/a"] * (bounds.URL_PATTERNS_MAX + 1), "include")


@given(st.text("ab/*?", max_size=12).filter(lambda text: "***" not in text), st.text("ab/"))
def test_a_pattern_means_what_its_regular_expression_means(pattern: str, text: str) -> None:
    words = re.findall(r"\*\*|.", pattern)
    meaning = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    regular = "".join(meaning.get(word, re.escape(word)) for word in words)
    assert Glob(pattern).matches(text) is bool(re.fullmatch(regular, text, re.DOTALL))


def test_the_worst_pattern_comes_to_an_end() -> None:
    """The backtracking of an equivalent regular expression would practically never end."""
    text = "/" + "a" * (bounds.URL_MAX_CHARS - 1)
    assert not Glob("/" + "*a" * 120 + "**a" * 80 + "b").matches(f"{text}cb")
    assert Glob("/" + "*a" * 120 + "**a" * 80 + "b").matches(f"{text}b")
