"""The main content by the agreement of independent engines and the type of the page.

Engines err in different places: what two of them take is nearly always content, what only one takes
is mostly not. So each run of text needs a majority, with exceptions by the type of the page:

* Collections and services are many small parts, of which every engine loses some and none invents
  any: what either of two takes is content.
* Threads and documentation are series of like parts. Where one of three engines finds nothing, a
  second that finds less has missed the parts of a kind that it doesn't know.
* An article is one text. What trafilatura, tuned on articles, finds along with another engine is
  enough when it is most of what the majority has: the rest is captions, teasers and bylines.

The cheap engines are asked first, trafilatura only where its answer can change the outcome.

Where the classifier has no answer (a page beyond its bounds) there is no majority: trafilatura
decides on what is an article or a product by the page's own data, or looks like an article, and the
rules on all else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean
from typing import Final

from lxml import etree

from spinneret.content.extraction.models import Extraction, PageType
from spinneret.content.extraction.page import Engine, Page
from spinneret.content.extraction.threads import without_what_surrounds_posts

_PARTS: Final = frozenset({PageType.COLLECTION, PageType.SERVICE})
_SERIES: Final = frozenset({PageType.FORUM, PageType.DOCUMENTATION})
_ARTICLE_SHARE: Final = 0.7
"""Of the majority's words: an article that is less was cut (its lists, or all after a break)."""
_THREAD_SHARE: Final = 0.7
"""Of the rules' words, where a page declares a thread: with less, replies went as comments."""
_CUT_SHARE: Final = 0.1
"""Of an article, where two engines share less of what they have found, one of them has failed."""
_FOUND_SHARE: Final = 0.1
"""Of the rules' words: with less, trafilatura has failed on an article or a product."""
_PROSE_WORDS: Final = 20
"""A run of so many words is a paragraph of a text rather than a part of a list."""
_PROSE_SHARE: Final = 0.8
"""Of the rules' words in such runs: an article, though it doesn't declare itself one …"""
_PROSE_FOUND_SHARE: Final = 0.5
"""… if trafilatura finds this much of it."""
_FEW_WORDS: Final = 100
"""On shorter pages the rules alone decide: the other engines count words to find the content."""
_SAME: Final = 0.65  # two engines that agree this much: a third one changes little


@dataclass(frozen=True, kw_only=True)
class Engines:
    """The engines that are asked, by the name that is reported."""

    rules: tuple[str, Engine]
    """Answers for every page."""
    classifier: tuple[str, Engine]
    """Tells the page's type, too."""
    articles: tuple[str, Engine]
    """Asked last."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The runs of the page that are its main content."""

    chosen: Sequence[bool]
    left_out: frozenset[etree._Element]
    """Parts of lines to skip in what is chosen."""
    extraction: Extraction


def decide(page: Page, engines: Engines) -> Decision:
    """Ask the engines and choose."""
    sizes = [len(run.words) for run in page.runs]
    answers: dict[str, Sequence[bool]] = {}
    name, classifier = engines.classifier
    answer = classifier(page)
    page_type = (answer.page_type if answer else None) or declared_type(page)
    if page.data.is_thread:  # nobody declares this by mistake
        page_type = PageType.FORUM
    if answer is not None and answer.chosen and sum(sizes) >= _FEW_WORDS:
        answers[name] = answer.chosen
    name, rules = engines.rules
    ruled = rules(page)
    if ruled is not None:
        answers[name] = ruled.chosen
    if _needs_a_third(answers, page_type, sizes):
        name, articles = engines.articles
        answer = articles(page)
        if answer is not None and answer.chosen:
            answers[name] = answer.chosen
    if engines.classifier[0] in answers:
        chosen = _chosen(answers, page_type, sizes, engines)
    else:
        chosen = _of_two(answers, page_type, sizes, engines)
    if (
        page.data.is_thread
        and ruled is not None
        and _words(chosen, sizes) < _THREAD_SHARE * _words(ruled.chosen, sizes)
    ):
        chosen = ruled.chosen
    if page_type is PageType.FORUM:
        chosen = without_what_surrounds_posts(page.runs, chosen)
    return Decision(
        chosen=chosen,
        left_out=ruled.left_out if ruled is not None else frozenset(),
        extraction=Extraction(
            engine=max(answers, key=lambda each: _f1(answers[each], chosen, sizes), default=""),
            agreement=_agreement(answers, sizes),
            page_type=page_type,
        ),
    )


def declared_type(page: Page) -> PageType | None:
    """What the page's own data says, where no engine has told."""
    if page.data.is_thread:
        return PageType.FORUM
    if page.data.is_article or page.og_type == "article":
        return PageType.ARTICLE
    if page.data.is_product or page.og_type.removeprefix("og:") in ("product", "product.item"):
        return PageType.PRODUCT
    return None


def _needs_a_third(
    answers: Mapping[str, Sequence[bool]], page_type: PageType | None, sizes: Sequence[int]
) -> bool:
    if sum(sizes) < _FEW_WORDS or page_type in _PARTS:
        return False
    if len(answers) < 2:
        return True
    if page_type is PageType.ARTICLE:
        return True  # its answer is the stricter one
    return _agreement(answers, sizes) < _SAME


def _chosen(
    answers: Mapping[str, Sequence[bool]],
    page_type: PageType | None,
    sizes: Sequence[int],
    engines: Engines,
) -> Sequence[bool]:
    votes = [sum(marks) for marks in zip(*answers.values(), strict=True)]
    either = len(answers) < 2 or page_type in _PARTS
    if page_type in _SERIES and len(answers) == 2 and _agreement(answers, sizes) < _SAME:
        either = True
    if either:
        return [vote > 0 for vote in votes]
    majority = [vote >= 2 for vote in votes]
    either_way = [vote > 0 for vote in votes]
    if not any(majority) or (
        page_type is PageType.ARTICLE
        and len(answers) == 2
        and _words(majority, sizes) < _CUT_SHARE * _words(either_way, sizes)
    ):
        return either_way  # better too much than next to nothing
    article = answers.get(engines.articles[0])
    if page_type is PageType.ARTICLE and article is not None:
        agreed = [both and own for both, own in zip(majority, article, strict=True)]
        if _words(agreed, sizes) >= _ARTICLE_SHARE * _words(majority, sizes):
            return agreed
    return majority


def _of_two(
    answers: Mapping[str, Sequence[bool]],
    page_type: PageType | None,
    sizes: Sequence[int],
    engines: Engines,
) -> Sequence[bool]:
    """The choice of one engine, where the classifier has none."""
    ruled, article = answers.get(engines.rules[0]), answers.get(engines.articles[0])
    if ruled is None or article is None:
        return article or ruled or [False] * len(sizes)
    all_of_it = _words(ruled, sizes)
    if page_type in (PageType.ARTICLE, PageType.PRODUCT):
        share = _FOUND_SHARE
    elif page_type is None:
        prose = [taken and size >= _PROSE_WORDS for taken, size in zip(ruled, sizes, strict=True)]
        is_prose = _words(prose, sizes) >= _PROSE_SHARE * all_of_it
        share = _PROSE_FOUND_SHARE if is_prose else 1.0
    else:
        return ruled
    return article if _words(article, sizes) > share * all_of_it else ruled


def _agreement(answers: Mapping[str, Sequence[bool]], sizes: Sequence[int]) -> float:
    pairs = [_f1(one, other, sizes) for one, other in combinations(answers.values(), 2)]
    return round(mean(pairs), 3) if pairs else 0.0


def _f1(one: Sequence[bool], other: Sequence[bool], sizes: Sequence[int]) -> float:
    """Agreement of two choices, weighted by words: 1 when they are equal."""
    shared = sum(size for a, b, size in zip(one, other, sizes, strict=True) if a and b)
    total = _words(one, sizes) + _words(other, sizes)
    return 2 * shared / total if total else 1.0


def _words(chosen: Sequence[bool], sizes: Sequence[int]) -> int:
    return sum(size for taken, size in zip(chosen, sizes, strict=True) if taken)
