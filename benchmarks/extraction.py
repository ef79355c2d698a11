"""Quality and speed of content extraction on two labelled sets of pages.

    python benchmarks/extraction.py [--article DIR] [--page-types DIR]

A set is a folder with `ground-truth.json` and `html/<id>.html.gz`. The sets are not part of this
repository, since the texts belong to their publishers; by default they are looked for beside it.

* article: the truth is `articleBody`, scored by the rule of scrapinghub's
  article-extraction-benchmark: multisets of four-word shingles; precision and recall are means over
  pages, pages without a prediction are left out of precision and pages without truth out of recall.
* page types: the truth is `main_content`, scored by the rule of the Web Content Extraction
  Benchmark: multisets of lower-case words; F1 is the mean over the pages of a type, and the last
  line the mean over types.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TypeVar

REPOSITORY = Path(__file__).resolve().parent.parent
SETS = REPOSITORY.parent / "shared" / "benchmarks"
SHINGLE_WORDS = 4

Item = TypeVar("Item", bound=Hashable)

sys.path.insert(0, str(REPOSITORY / "layers" / "common"))

from spinneret.content.extraction.pages import extract  # noqa: E402 (path set above)
from spinneret.kernel.errors import ContentRefused  # noqa: E402 (path set above)


@dataclass(frozen=True)
class Score:
    """None where the rule leaves the page out."""

    precision: float | None
    recall: float | None
    f1: float


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    pages: int
    precision: float
    recall: float
    f1: float


def main() -> None:
    """Print one table per set; a set that isn't there is named and passed over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--article", type=Path, default=SETS / "article-extraction")
    parser.add_argument("--page-types", type=Path, default=SETS / "page-types")
    arguments = parser.parse_args()
    measured = 0
    for name, folder, rows_of in (
        ("article", arguments.article, article_rows),
        ("page types", arguments.page_types, page_type_rows),
    ):
        if not (folder / "ground-truth.json").is_file():
            print(f"{name}: no ground-truth.json in {folder}, not measured")
            continue
        measured += 1
        pages = list(read_pages(folder))
        started = time.process_time()
        markdown = [extracted(page, url) for page, url, _ in pages]
        seconds = time.process_time() - started
        print_table(name, rows_of(markdown, [truth for _, _, truth in pages]))
        print(f"{len(pages) / seconds:.1f} pages/s of processor time\n")
    if not measured:
        sys.exit("nothing measured")


def read_pages(folder: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """HTML, URL and truth of every page."""
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for identity, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{identity}.html.gz").read_bytes())
        yield body.decode("utf-8", "replace"), truth["url"], truth


def extracted(page: str, url: str) -> str:
    """The markdown, empty where the page is refused."""
    try:
        return extract(page, "text/html", url).markdown
    except ContentRefused:
        return ""


def article_rows(predictions: Sequence[str], truths: Sequence[dict[str, str]]) -> list[Row]:
    """One row: F1 is the harmonic mean of the two means."""
    scores = [
        shared_score(shingles(truth["articleBody"]), shingles(predicted))
        for predicted, truth in zip(predictions, truths, strict=True)
    ]
    precision = mean(score.precision for score in scores if score.precision is not None)
    recall = mean(score.recall for score in scores if score.recall is not None)
    f1 = 2 * precision * recall / (precision + recall)
    return [Row("all", len(scores), precision, recall, f1)]


def page_type_rows(predictions: Sequence[str], truths: Sequence[dict[str, str]]) -> list[Row]:
    """A row per type and their mean; a page that is empty on one side only scores 0."""
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
    """Runs of four words; a shorter text is one shingle."""
    found = re.findall(r"\w+", text)
    starts = range(max(1, len(found) - SHINGLE_WORDS + 1)) if found else ()
    return Counter(tuple(found[start : start + SHINGLE_WORDS]) for start in starts)


def words(text: str | None) -> Counter[str]:
    """Lower-case words."""
    return Counter(re.findall(r"\w+", (text or "").lower()))


def shared_score(truth: Counter[Item], predicted: Counter[Item]) -> Score:
    """Agreement of two multisets; two empty ones agree fully, though there is nothing to rate."""
    shared = (truth & predicted).total()
    precision = shared / predicted.total() if predicted else None
    recall = shared / truth.total() if truth else None
    if precision is None and recall is None:
        return Score(precision, recall, 1.0)
    if not precision or not recall:
        return Score(precision, recall, 0.0)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def or_agreement(part: float | None, score: Score) -> float:
    """The page-type rule counts every page: what can't be rated is 1 if both sides are empty."""
    return score.f1 if part is None else part


def print_table(name: str, rows: Sequence[Row]) -> None:
    """Columns as wide as the longest type."""
    print(f"{name:<16}{'pages':>6}{'F1':>8}{'precision':>11}{'recall':>8}")
    for row in rows:
        print(f"{row.name:<16}{row.pages:>6}{row.f1:>8.4f}{row.precision:>11.4f}{row.recall:>8.4f}")


if __name__ == "__main__":
    main()
