"""Score extracted texts against labelled pages, by the rules of two published benchmarks.

* article: the truth is `articleBody`; the rule is that of scrapinghub's
  article-extraction-benchmark: multisets of four-word shingles. Precision and recall are means over
  pages; precision omits pages without a prediction, and recall omits pages without truth.
* page types: the truth is `main_content`; the rule is that of the Web Content Extraction Benchmark:
  multisets of lower-case words. F1 is the mean over the pages of a type, and the last line is the
  mean over types.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import mean

SHINGLE_WORDS = 4


@dataclass(frozen=True)
class Score:
    """Scores of a page; precision or recall is None if the rule omits the page."""

    precision: float | None
    recall: float | None
    f1: float


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    pages: int
    precision: float
    recall: float
    f1: float


def page_f1(text: str, truth: dict[str, str]) -> float:
    """Return F1 of one page's text, by the rule of its set."""
    if "articleBody" in truth:
        return shared_score(shingles(truth["articleBody"]), shingles(text)).f1
    return shared_score(words(truth["main_content"]), words(text)).f1


def article_rows(predictions: Sequence[str], truths: Sequence[dict[str, str]]) -> list[Row]:
    """Return one row, whose F1 is the harmonic mean of mean precision and mean recall."""
    scores = [
        shared_score(shingles(truth["articleBody"]), shingles(predicted))
        for predicted, truth in zip(predictions, truths, strict=True)
    ]
    precision = mean(score.precision for score in scores if score.precision is not None)
    recall = mean(score.recall for score in scores if score.recall is not None)
    f1 = 2 * precision * recall / (precision + recall)
    return [Row("choice", len(scores), precision, recall, f1)]


def page_type_rows(predictions: Sequence[str], truths: Sequence[dict[str, str]]) -> list[Row]:
    """Return a row per type and their mean.

    A page scores 0 if only its truth or only its prediction is empty.
    """
    scores: dict[str, list[Score]] = defaultdict(list)
    for predicted, truth in zip(predictions, truths, strict=True):
        score = shared_score(words(truth["main_content"]), words(predicted))
        scores[truth["page_type"]].append(score)
    rows = [
        Row(
            name,
            len(of_type),
            mean(or_agreement(score.precision, score) for score in of_type),
            mean(or_agreement(score.recall, score) for score in of_type),
            mean(score.f1 for score in of_type),
        )
        for name, of_type in sorted(scores.items())
    ]
    means = (mean(getattr(row, column) for row in rows) for column in ("precision", "recall", "f1"))
    return [*rows, Row("mean of types", len(truths), *means)]


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Count the runs of four words; a shorter text is one shingle."""
    found = re.findall(r"\w+", text)
    starts = range(max(1, len(found) - SHINGLE_WORDS + 1)) if found else ()
    return Counter(tuple(found[start : start + SHINGLE_WORDS]) for start in starts)


def words(text: str | None) -> Counter[str]:
    """Count the words in lower case."""
    return Counter(re.findall(r"\w+", (text or "").lower()))


def shared_score[Item: Hashable](truth: Counter[Item], predicted: Counter[Item]) -> Score:
    """Return the agreement of two multisets.

    Two empty multisets have an F1 of 1, but neither precision nor recall.
    """
    shared = (truth & predicted).total()
    precision = shared / predicted.total() if predicted else None
    recall = shared / truth.total() if truth else None
    if precision is None and recall is None:
        return Score(precision, recall, 1.0)
    if not precision or not recall:
        return Score(precision, recall, 0.0)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def or_agreement(part: float | None, score: Score) -> float:
    """Return a part of the score, or F1 if the part is None.

    The page-type rule counts every page: F1 is 1 if both sides are empty, and 0 if one is.
    """
    return score.f1 if part is None else part
