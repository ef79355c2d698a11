"""Third-party engines: their input is bounded, and a failure of theirs fails no page."""

import time
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest
import rs_trafilatura
import trafilatura

from spinneret.content.extraction import engines
from spinneret.content.extraction.markup import parse_html
from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.page import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_SOURCE_CHARS,
    MAX_TAGS,
    Engine,
    ParsedPage,
)
from spinneret.content.extraction.pages import extract
from spinneret.content.extraction.structured_data import StructuredData

URL = "https://site.example/"
TEXT = "Spiders weave silk, which is stronger than steel of the same weight. "


ARTICLES: Engine = partial(engines.trafilatura_by_type, page_type=PageType.ARTICLE)


def page(body: str, text: str | None = None) -> ParsedPage:
    root = parse_html(f"<html><body>{body}</body></html>")
    return ParsedPage(
        text=body if text is None else text,
        url=URL,
        root=root,
        body=root.find("body"),
        data=StructuredData(),
        og_type="",
    )


@pytest.mark.parametrize(
    ("fits", "is_too_much"),
    [
        pytest.param(
            lambda: page("<div>" * (MAX_DEPTH - 2) + TEXT),
            lambda: page("<div>" * (MAX_DEPTH - 1) + TEXT),
            id="depth",
        ),
        pytest.param(
            lambda: page("<p>a" * (MAX_ELEMENTS - 2)),
            lambda: page("<p>a" * (MAX_ELEMENTS - 1)),
            id="elements",
        ),
        pytest.param(
            lambda: page("a" * MAX_CHARS),
            lambda: page("a" * (MAX_CHARS + 1)),
            id="characters",
        ),
        pytest.param(
            lambda: page(TEXT, "<" * MAX_TAGS),
            lambda: page(TEXT, "<" * (MAX_TAGS + 1)),
            id="tags of the source",
        ),
        pytest.param(
            lambda: page(TEXT, "a" * MAX_SOURCE_CHARS),
            lambda: page(TEXT, "a" * (MAX_SOURCE_CHARS + 1)),
            id="source",
        ),
    ],
)
def test_an_engine_is_called_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
    fits: Callable[[], ParsedPage],
    is_too_much: Callable[[], ParsedPage],
) -> None:
    assert fits().is_bounded
    beyond = is_too_much()
    assert not beyond.is_bounded

    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("it can't be interrupted")

    monkeypatch.setattr(rs_trafilatura, "extract", unexpected)
    monkeypatch.setattr(trafilatura, "bare_extraction", unexpected)
    assert engines.classifying_rs_trafilatura(beyond) is None
    assert ARTICLES(beyond) is None


@pytest.mark.parametrize("outer", ["figure", "section", "td", "p"])
def test_an_element_with_thousands_of_children_is_too_much_for_trafilatura(
    monkeypatch: pytest.MonkeyPatch, outer: str
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(trafilatura, "bare_extraction", lambda *_, **__: asked.append(outer))
    for children in (engines.MAX_CHILDREN, engines.MAX_CHILDREN + 1):
        wide = page(f"<table><{outer}>{'<i>a</i>' * children}</{outer}>")
        assert wide.is_bounded
        assert ARTICLES(wide) is None
    assert asked == [outer]


def test_a_table_of_few_elements_and_many_cells_is_too_much_for_trafilatura(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        trafilatura,
        "bare_extraction",
        lambda root, **_: asked.extend(root.xpath("//@colspan | //@rowspan")),
    )
    longest = "<tr>" + "<td>a" * 100
    fits = page(f"<table>{longest}<tr><td colspan=9 rowspan=9>b{'<tr><td>c' * 998}</table>")
    assert ARTICLES(fits) is None
    assert asked == []
    assert fits.root.xpath("//@colspan | //@rowspan") == ["9", "9"]
    monkeypatch.setattr(trafilatura, "bare_extraction", lambda *_, **__: asked.append("again"))
    assert ARTICLES(page(f"<table>{longest}{'<tr><td>c' * 1000}</table>")) is None
    assert asked == []


def test_the_rules_leave_out_parts_of_lines_whatever_is_chosen_but_no_blocks() -> None:
    choice = engines.regions(
        page(f"<p>{TEXT * 9}<b hidden>a</b></p><dialog><p>b</p></dialog><i hidden><div>c</div></i>")
    )
    assert [element.tag for element in choice.left_out] == ["b"]


def test_trafilatura_leaves_out_its_fallbacks_on_pages_of_thousands_of_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(trafilatura, "bare_extraction", lambda *_, fast, **__: asked.append(fast))
    for count in (engines.MAX_FALLBACK_RUNS, engines.MAX_FALLBACK_RUNS + 1):
        lists = [
            "<ul>" + "<li>a</li>" * min(1_000, count - at) + "</ul>"
            for at in range(0, count, 1_000)
        ]
        assert ARTICLES(page("".join(lists))) is None
    assert asked == [False, True]


class PanicException(BaseException):
    """The form in which a panic of Rust reaches Python."""


@pytest.mark.parametrize(
    ("module", "name", "engine", "error"),
    [
        (rs_trafilatura, "extract", engines.classifying_rs_trafilatura, ValueError("markup")),
        (rs_trafilatura, "extract", engines.classifying_rs_trafilatura, PanicException("markup")),
        (trafilatura, "bare_extraction", ARTICLES, RecursionError("markup")),
    ],
)
def test_an_engine_that_raises_abstains_and_the_others_decide(
    monkeypatch: pytest.MonkeyPatch,
    module: object,
    name: str,
    engine: Engine,
    error: BaseException,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(module, name, fail)
    body = "".join(f"<p>Part {n}: {TEXT}</p>" for n in range(20))
    assert engine(page(body)) is None
    assert "Part 19: Spiders" in extract(body, "text/html", URL).markdown


def test_what_ends_the_process_is_no_failure_of_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(rs_trafilatura, "extract", interrupt)
    with pytest.raises(KeyboardInterrupt):
        engines.classifying_rs_trafilatura(page(f"<p>{TEXT}"))


@pytest.mark.heavy
@pytest.mark.parametrize("paragraphs", [20_000, pytest.param(200_000, marks=pytest.mark.proof)])
def test_200_000_paragraphs_are_read_in_bounded_time(paragraphs: int) -> None:
    body = "".join(f"<p>Paragraph {n}.</p>" for n in range(paragraphs))
    started = time.process_time()
    found = extract(f"<html><body>{body}</body></html>", "text/html", URL).markdown
    assert time.process_time() - started < 30 * paragraphs / 200_000  # about 5 s for 200,000
    assert "Paragraph 0." in found
    assert f"Paragraph {paragraphs - 1}." in found


def test_a_text_that_comes_in_another_order_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [" ".join(f"{name}{n}" for n in range(30)) for name in ("apple", "birch", "cedar")]

    def answer(*_: object, **__: object) -> SimpleNamespace:
        return SimpleNamespace(main_content=" ".join(parts[::-1]), page_type="listing")

    monkeypatch.setattr(rs_trafilatura, "extract", answer)
    found = engines.classifying_rs_trafilatura(page("".join(f"<p>{each}</p>" for each in parts)))
    assert found is not None
    assert list(found.chosen) == [True, True, True]


@pytest.mark.parametrize(("page_type", "kept"), [(PageType.ARTICLE, False), (PageType.FORUM, True)])
def test_comments_are_part_of_any_page_but_an_article(page_type: PageType, kept: bool) -> None:
    comments = "".join(
        f'<div class="comment"><p>Reader {n} says this. {TEXT}</p></div>' for n in range(4)
    )
    text = "".join(f"<p>Part {n}: {TEXT * 2}</p>" for n in range(6))
    whole = page(f'<article>{text}</article><section id="comments">{comments}</section>')
    found = engines.trafilatura_by_type(whole, page_type)
    assert found is not None
    assert list(found.chosen) == [True] * 6 + [kept] * 4
