"""Chooses the main content by agreement of independent engines and by page type.

Engines fail in different places, so the answer that is nearest to the other answers is rarely a
failure. If no two agree, one that is much shorter than the longest has failed. Exceptions by page
type:

* Collections, products and declared discussions are many small parts among recommendations or
  author cards. Only the classifier, whose rules depend on the type, can separate them; its answer
  is content. Collections are what it mistakes most, so there two others decide if they agree with
  each other but not with it.
* Services are sections of many forms. Every engine misses some and none invents any, so the union
  of two engines is content.
* An article is one text. What a majority with trafilatura, which is tuned on articles, has found
  suffices if it is most of the nearest answer. The rest is captions, teasers and bylines. On a
  declared article, an answer of trafilatura that shares little with both others is content: they
  stopped at the first lines, or took the comments for the text.

The cheap engines run first; trafilatura only runs if they disagree, and on articles, where its
quick mode suffices if another engine agrees. Of two answers the common part is content.

If the classifier returns nothing (a page beyond its limits), there is no majority. Trafilatura then
decides on pages that declare an article or product, or look like an article. The rules decide on
all other pages.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean
from typing import Final

from lxml import etree

from spinneret.content.extraction.models import Extraction, PageType
from spinneret.content.extraction.page import Choice, Engine, ParsedPage, TypedEngine
from spinneret.content.extraction.threads import without_what_surrounds_posts

_CLASSIFIED: Final = frozenset({PageType.PRODUCT})
_ARTICLE_SHARE: Final = 0.7
"""Share of the nearest answer's words. With less, the article was cut: its lists, or all text after
a break."""
_WHOLE_SHARE: Final = 0.3
"""Share of trafilatura's words on a declared article. If another engine has found less of them,
both others have failed."""
_THREAD_SHARE: Final = 0.7
"""Share of the rules' words on declared questions. With less, answers were dropped as comments."""
_SHORT_SHARE: Final = 1 / 3
"""Share of the longest answer's words. With less, an answer that no other confirms has failed.
Declared discussions have the rules' words for it."""
_FOUND_SHARE: Final = 0.1
"""Share of the rules' words. With less, trafilatura failed on an article or a product."""
_PROSE_WORDS: Final = 20
"""Number of words from which a run counts as a paragraph rather than a part of a list."""
_PROSE_SHARE: Final = 0.8
"""Share of the rules' words in such runs, from which an undeclared page is an article …"""
_PROSE_FOUND_SHARE: Final = 0.5
"""… if trafilatura finds at least this share."""
_FEW_WORDS: Final = 100
"""On shorter pages the rules decide alone: the other engines rely on word counts."""
_SAME: Final = 0.65
"""Agreement from which two answers confirm each other, and a third one changes little."""


@dataclass(frozen=True, kw_only=True)
class Engines:
    """The engines, each with its reported name."""

    rules: tuple[str, Engine]
    """Returns a result for every page."""
    classifier: tuple[str, Engine]
    """Also classifies the page's type."""
    articles: tuple[str, TypedEngine]
    """Runs last, if necessary."""


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The page's runs that are its main content."""

    chosen: Sequence[bool]
    left_out: frozenset[etree._Element]
    """Elements within chosen lines that are skipped."""
    extraction: Extraction


def decide(page: ParsedPage, engines: Engines) -> Decision:
    """Run the engines and choose the main content."""
    sizes = [len(run.words) for run in page.runs]
    answers: dict[str, Sequence[bool]] = {}
    name, classifier = engines.classifier
    answer = classifier(page)
    declared = declared_type(page)
    page_type = (answer.page_type if answer else None) or declared
    if page.data.is_thread:  # pages never declare this by mistake
        page_type = PageType.FORUM
    if answer is not None and any(answer.chosen) and sum(sizes) >= _FEW_WORDS:
        answers[name] = answer.chosen
    name, rules = engines.rules
    ruled = rules(page)
    if ruled is not None:
        answers[name] = ruled.chosen
    is_classified = page_type in _CLASSIFIED or page.data.is_discussion
    if _needs_a_third(answers, page_type, sizes, is_classified=is_classified):
        name, articles = engines.articles
        answer = _third(articles, page, page_type, answers, sizes)
        if answer is not None and any(answer.chosen):
            answers[name] = answer.chosen
    classified = answers.get(engines.classifier[0])
    if classified is None:
        chosen = _of_two(answers, page_type, sizes, engines)
    elif is_classified:
        chosen = classified
    else:
        chosen = _chosen(answers, page_type, declared, sizes, engines)
    if page_type is PageType.FORUM:
        chosen = _posts(page, chosen, ruled, sizes)
    return Decision(
        chosen=chosen,
        left_out=ruled.left_out if ruled is not None else frozenset(),
        extraction=Extraction(
            engine=max(answers, key=lambda each: _f1(answers[each], chosen, sizes), default=""),
            agreement=_agreement(answers, sizes),
            page_type=page_type,
        ),
    )


def _posts(
    page: ParsedPage, chosen: Sequence[bool], ruled: Choice | None, sizes: Sequence[int]
) -> Sequence[bool]:
    """Return the posts of a thread, by the rules if most of a declared one is missing."""
    if page.data.is_thread and ruled is not None:
        share = _SHORT_SHARE if page.data.is_discussion else _THREAD_SHARE
        if _words(chosen, sizes) < share * _words(ruled.chosen, sizes):
            chosen = ruled.chosen
    return without_what_surrounds_posts(page.runs, chosen)


def declared_type(page: ParsedPage) -> PageType | None:
    """Return the page type by the page's own data, for pages without a classification."""
    if page.data.is_thread:
        return PageType.FORUM
    if page.data.is_article or page.og_type == "article":
        return PageType.ARTICLE
    if page.data.is_product or page.og_type.removeprefix("og:") in ("product", "product.item"):
        return PageType.PRODUCT
    return None


def _needs_a_third(
    answers: Mapping[str, Sequence[bool]],
    page_type: PageType | None,
    sizes: Sequence[int],
    *,
    is_classified: bool,
) -> bool:
    if sum(sizes) < _FEW_WORDS:
        return False
    if len(answers) < 2 or page_type is PageType.ARTICLE:
        return True
    if is_classified or page_type is PageType.SERVICE:
        return False
    return _agreement(answers, sizes) < _SAME


def _third(
    engine: TypedEngine,
    page: ParsedPage,
    page_type: PageType | None,
    answers: Mapping[str, Sequence[bool]],
    sizes: Sequence[int],
) -> Choice | None:
    """Return the engine's answer, on articles in its quick mode if another answer confirms it."""
    if page_type is PageType.ARTICLE:
        quick = engine(page, page_type, is_quick=True)
        if quick is not None and any(
            _f1(quick.chosen, other, sizes) >= _SAME for other in answers.values()
        ):
            return quick
    return engine(page, page_type, is_quick=False)


def _chosen(
    answers: Mapping[str, Sequence[bool]],
    page_type: PageType | None,
    declared: PageType | None,
    sizes: Sequence[int],
    engines: Engines,
) -> Sequence[bool]:
    classified = answers[engines.classifier[0]]
    if page_type is PageType.COLLECTION:
        others = [each for each in answers.values() if each is not classified]
        return _nearest(answers, sizes) if _outvote(others, classified, sizes) else classified
    votes = [sum(marks) for marks in zip(*answers.values(), strict=True)]
    if page_type is PageType.SERVICE:
        return [vote > 0 for vote in votes]
    if len(answers) < 3:
        both = [vote == 2 for vote in votes]
        return both if any(both) else [vote > 0 for vote in votes]
    nearest = _nearest(answers, sizes)
    if page_type is not PageType.ARTICLE:
        return nearest
    article = answers[engines.articles[0]]
    agreed = [vote >= 2 and own for vote, own in zip(votes, article, strict=True)]
    words = _words(agreed, sizes)
    if declared is PageType.ARTICLE and words < _WHOLE_SHARE * _words(article, sizes):
        return article
    return agreed if words >= _ARTICLE_SHARE * _words(nearest, sizes) else nearest


def _outvote(others: Sequence[Sequence[bool]], one: Sequence[bool], sizes: Sequence[int]) -> bool:
    """Return whether two other answers confirm each other, but not this one."""
    return (
        len(others) == 2
        and _f1(others[0], others[1], sizes) >= _SAME
        and all(_f1(one, other, sizes) < _SAME for other in others)
    )


def _nearest(answers: Mapping[str, Sequence[bool]], sizes: Sequence[int]) -> Sequence[bool]:
    """Return the answer that agrees most with the others; the first one in a tie."""
    candidates = list(answers.values())
    if all(_f1(one, other, sizes) < _SAME for one, other in combinations(candidates, 2)):
        least = _SHORT_SHARE * max(_words(each, sizes) for each in candidates)
        candidates = [each for each in candidates if _words(each, sizes) >= least]
    return max(
        candidates,
        key=lambda one: sum(_f1(one, other, sizes) for other in answers.values()),
    )


def _of_two(
    answers: Mapping[str, Sequence[bool]],
    page_type: PageType | None,
    sizes: Sequence[int],
    engines: Engines,
) -> Sequence[bool]:
    """Return the choice of one engine, for pages without a classifier result."""
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
    """Return the agreement of two choices, weighted by words; 1 if they are equal."""
    shared = sum(size for a, b, size in zip(one, other, sizes, strict=True) if a and b)
    total = _words(one, sizes) + _words(other, sizes)
    return 2 * shared / total if total else 1.0


def _words(chosen: Sequence[bool], sizes: Sequence[int]) -> int:
    return sum(size for taken, size in zip(chosen, sizes, strict=True) if taken)
