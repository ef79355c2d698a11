"""Extraction keeps the main content of each page in a small golden set and drops the rest."""

from collections import Counter
from functools import partial

import pytest

from spinneret.content.extraction import engines, pages
from spinneret.content.extraction.choice import Decision, Engines
from spinneret.content.extraction.models import Extraction
from spinneret.content.extraction.page import Engine, ParsedPage
from spinneret.content.extraction.pages import extract
from spinneret.content.extraction.runs import text_words
from spinneret.kernel.errors import ContentRefused
from tests.unit.content.extraction.golden_pages import GOLDEN, GoldenPage

LEAST: dict[str, float] = {"answers": 0.8}
"""Lowest F1 of pages with known losses: one of the answers to a question is taken for a comment."""
USUAL = 0.95


def f1(text: str, wanted: str) -> float:
    one, other = Counter(text_words(text)), Counter(text_words(wanted))
    return 2 * (one & other).total() / (one.total() + other.total())


def passes(page: GoldenPage) -> bool:
    try:
        text = extract(page.html, "text/html", "https://harbour.example/page").text
    except ContentRefused:
        return False
    good = f1(text, page.wanted) >= LEAST.get(page.name, USUAL)
    return good and not any(each in text for each in page.beside)


# covers C-03
@pytest.mark.parametrize("page", GOLDEN, ids=lambda page: page.name)
def test_the_main_content_is_chosen(page: GoldenPage) -> None:
    assert passes(page)


ALONE: dict[str, Engine] = {
    "rules": engines.regions,
    "classifier": engines.classifying_rs_trafilatura,
    "articles": partial(engines.trafilatura_by_type, page_type=None),
}


@pytest.mark.parametrize("name", ALONE)
def test_one_engine_alone_would_fail(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The set distinguishes a wrong choice from the right one."""

    def alone(page: ParsedPage, _: Engines) -> Decision:
        answer = ALONE[name](page)
        chosen = answer.chosen if answer and answer.chosen else [False] * len(page.runs)
        extraction = Extraction(engine=name, agreement=1.0, page_type=None)
        return Decision(chosen=chosen, left_out=frozenset(), extraction=extraction)

    monkeypatch.setattr(pages, "decide", alone)
    assert not all(map(passes, GOLDEN))
