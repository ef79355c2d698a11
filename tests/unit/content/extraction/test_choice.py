"""Choice of a page's content from the answers of several engines."""

from collections.abc import Sequence

import pytest

from spinneret.content.extraction.alignment import chosen_words, moved_words
from spinneret.content.extraction.choice import Engines, decide
from spinneret.content.extraction.markup import parse_html
from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.page import Choice, Engine, ParsedPage, TypedEngine
from spinneret.content.extraction.structured_data import StructuredData

WORDS = 30  # in each of the page's five runs


def page(
    runs: int = 5, words: int = WORDS, data: StructuredData | None = None, og_type: str = ""
) -> ParsedPage:
    body = "".join(f"<p>{' '.join([f'w{run}'] * words)}</p>" for run in range(runs))
    root = parse_html(f"<html><body>{body}</body></html>")
    return ParsedPage(
        text="",
        url="https://site.example/",
        root=root,
        body=root.find("body"),
        data=data or StructuredData(),
        og_type=og_type,
    )


def answering(marks: str | None, page_type: PageType | None = None) -> Engine:
    """Return an engine that chooses the runs marked `x`; for None, it abstains."""
    if marks is None:
        return lambda _: None
    return lambda _: Choice(chosen=[mark == "x" for mark in marks], page_type=page_type)


def typed(marks: str | None, quick: str | None = None) -> TypedEngine:
    modes = {False: answering(marks), True: answering(quick)}
    return lambda page, _, *, is_quick: modes[is_quick](page)


def chosen(
    rules: str,
    classifier: str | None,
    articles: str | None,
    page_type: PageType | None,
    og_type: str = "",
) -> str:
    engines = Engines(
        rules=("rules", answering(rules)),
        classifier=("classifier", answering(classifier, page_type)),
        articles=("articles", typed(articles)),
    )
    return marked(decide(page(runs=len(rules), og_type=og_type), engines).chosen)


def marked(marks: Sequence[bool]) -> str:
    return "".join("x" if mark else "." for mark in marks)


@pytest.mark.parametrize(
    ("rules", "classifier", "articles", "page_type", "expected"),
    [
        ("xx...", ".xxx.", "..xxx", PageType.LISTING, ".xxx."),
        ("xx...", "..xxx", ".....", PageType.LISTING, "xxxxx"),
        ("xxxx.", "....x", "xxx..", PageType.DOCUMENTATION, "xxxx."),
        ("xxxxx", "xxxx.", ".....", PageType.FORUM, "xxxx."),
        ("xx........", "...xxxxxxx", ".xx.......", PageType.LISTING, "...xxxxxxx"),
        ("xxxxx", "xx...", "x....", PageType.COLLECTION, "xx..."),
        ("xxxx.", "....x", "xxxxx", PageType.COLLECTION, "xxxxx"),
        ("xxxxx", "x....", "xxxxx", PageType.PRODUCT, "x...."),
        ("xx...", ".xx..", "xxxxx", PageType.SERVICE, "xxx.."),
        ("xxxxx", "xxxx.", "xxx..", PageType.ARTICLE, "xxx.."),
        ("xxxxx", "xxxx.", "xx...", PageType.ARTICLE, "xxxx."),
        ("xxxxx", "xx...", None, PageType.FORUM, "xx..."),
        ("xxx..", None, None, None, "xxx.."),
        ("xxx..", ".....", None, PageType.PRODUCT, "xxx.."),
    ],
    ids=[
        "the nearest to the others",
        "either, if two share nothing",
        "not one that shares nothing with two others",
        "both, of two that agree",
        "not much shorter ones, if no two agree",
        "the classifier's, of a collection",
        "not the classifier's, if two others agree",
        "the classifier's, of a product",
        "either, of a service",
        "what is agreed, of an article",
        "not what is agreed when it was cut",
        "both, of two, if the third fails",
        "one alone",
        "the rules', if the classifier finds nothing",
    ],
)
def test_what_is_chosen(
    rules: str,
    classifier: str | None,
    articles: str | None,
    page_type: PageType | None,
    expected: str,
) -> None:
    assert chosen(rules, classifier, articles, page_type) == expected


@pytest.mark.parametrize(
    ("rules", "classifier", "og_type", "expected"),
    [
        ("x....", "x....", "article", ".xxxx"),
        ("xx...", "x....", "article", ".xxxx"),
        ("xxx..", "xxx..", "article", "xxx.."),
        ("x....", "x....", "", "x...."),
    ],
    ids=["they share nothing with it", "a quarter of it", "half of it", "undeclared"],
)
def test_a_declared_article_that_two_engines_have_missed_is_the_third_s(
    rules: str, classifier: str, og_type: str, expected: str
) -> None:
    assert chosen(rules, classifier, ".xxxx", PageType.ARTICLE, og_type) == expected


def test_the_third_engine_is_not_asked_where_two_agree() -> None:
    def unexpected(*_: object, is_quick: bool) -> Choice:
        raise AssertionError

    engines = Engines(
        rules=("rules", answering("xxx..")),
        classifier=("classifier", answering("xxx..", PageType.LISTING)),
        articles=("articles", unexpected),
    )

    decision = decide(page(), engines)

    assert marked(decision.chosen) == "xxx.."
    assert decision.extraction.agreement == 1.0
    assert decision.extraction.page_type is PageType.LISTING


@pytest.mark.parametrize(
    ("quick", "expected"), [("xxxx.", "xxxx."), ("...xx", "xxx.."), (None, "xxx..")]
)
def test_the_quick_answer_suffices_on_an_article_if_another_engine_confirms_it(
    quick: str | None, expected: str
) -> None:
    engines = Engines(
        rules=("rules", answering("xxxx.")),
        classifier=("classifier", answering("xxxx.", PageType.ARTICLE)),
        articles=("articles", typed("xxx..", quick)),
    )

    assert marked(decide(page(), engines).chosen) == expected


@pytest.mark.parametrize(
    ("declared", "classifier", "expected"),
    [
        ("discussionforumposting", "xx...", "xx..."),
        ("discussionforumposting", "x....", "xxxxx"),
        ("qapage", "xx...", "xxxxx"),
    ],
    ids=["a discussion", "a discussion of which it has too little", "questions and answers"],
)
def test_a_declared_discussion_is_the_classifier_s(
    declared: str, classifier: str, expected: str
) -> None:
    engines = Engines(
        rules=("rules", answering("xxxxx")),
        classifier=("classifier", answering(classifier, PageType.FORUM)),
        articles=("articles", typed("xxxxx")),
    )
    thread = page(data=StructuredData(types=frozenset({declared})))

    assert marked(decide(thread, engines).chosen) == expected


def test_the_engine_that_is_nearest_and_the_agreement_are_reported() -> None:
    engines = Engines(
        rules=("rules", answering("xxxxx")),
        classifier=("classifier", answering("xx...", PageType.LISTING)),
        articles=("articles", typed("xx...")),
    )

    extraction = decide(page(), engines).extraction

    assert extraction.engine == "classifier"
    assert extraction.agreement == round((4 / 7 + 4 / 7 + 1) / 3, 3)


def test_rules_alone_decide_a_page_of_few_words() -> None:
    engines = Engines(
        rules=("rules", answering("xx...")),
        classifier=("classifier", answering("...xx", PageType.ARTICLE)),
        articles=("articles", typed("...xx")),
    )

    assert marked(decide(page(words=3), engines).chosen) == "xx..."


@pytest.mark.parametrize(
    ("whole", "found", "marks"),
    [
        ("a b c d e", "b c d", ".xxx."),
        ("a b c d e", "a c e", "x.x.x"),
        ("menu a b c menu d e f", "a b c d e f", ".xxx.xxx"),
        ("a b a b c d", "c d", "....xx"),
        ("a b c", "", "..."),
        ("a b c", "x y", "..."),
    ],
)
def test_words_that_an_engine_returned_are_found_in_the_page(
    whole: str, found: str, marks: str
) -> None:
    assert marked([bool(mark) for mark in chosen_words(whole.split(), found.split())]) == marks


@pytest.mark.parametrize(
    ("whole", "found", "marks"),
    [
        ("a b c d menu e f g h", "e f g h a b c d", "xxxx.xxxx"),
        ("a b c", "a b c", "..."),
        ("a b c d", "", "...."),
    ],
)
def test_parts_that_an_engine_moved_are_found_by_four_words(
    whole: str, found: str, marks: str
) -> None:
    assert marked([bool(mark) for mark in moved_words(whole.split(), found.split())]) == marks
