"""Plain text is the text that a reader of the page sees."""

import time

import pytest

from spinneret.content.extraction.pages import extract
from spinneret.content.extraction.plain import plain_text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# A *heading*\n\nand **bold** ~~old~~ words", "A heading\n\nand bold old words"),
        ("see [the page](https://a.example/) now", "see the page now"),
        ("![a picture](https://a.example/p.png) beside", "beside"),
        ("use `a * b` and ``x ` y``", "use a * b and x ` y"),
        ("```py\na = [1](2)\n# b\n```\nafter", "a = [1](2)\n# b\nafter"),
        ("| a | b |\n| --- | --- |\n| c | d |", "a\tb\nc\td"),
        ("> quoted\n> > twice", "quoted\ntwice"),
        ("- one\n  - two", "- one\n  - two"),
        (r"1\. no list, \<tag> and a\]", "1. no list, <tag> and a]"),
        ("2 * 3 * 4", "2 * 3 * 4"),
    ],
)
def test_marks_and_addresses_are_left_out(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


def test_a_page_s_text_is_read_back() -> None:
    page = "<h1>Silk &amp; webs</h1><p>A <b>strong</b> thread: a &lt; b.</p><pre>x *y*</pre>"
    content = extract(page, "text/html", "https://example.com/")
    assert plain_text(content.markdown) == "Silk & webs\n\nA strong thread: a < b.\n\nx *y*"


@pytest.mark.parametrize(
    "text",
    ["*a" * 50_000, "a " + "`" * 100_000, "`" * 100_000, "[" * 100_000, "\\" * 100_000],
)
def test_hostile_text_takes_no_long_time(text: str) -> None:
    began = time.process_time()
    plain_text(text)
    assert time.process_time() - began < 5


def test_a_wide_table_row_is_read_in_linear_time() -> None:
    assert plain_text(f"| a{' ' * 200_000}b | c |").endswith("b\tc")
