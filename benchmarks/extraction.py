"""Quality and speed of content extraction on two labelled sets of pages.

    SPINNERET_BENCHMARK_DATA=DIR python benchmarks/extraction.py

`DIR` holds the folders `article-extraction` and `page-types`, each with `ground-truth.json` and
`html/<id>.html.gz`. They are not part of this repository, since the texts belong to their
publishers. For each set one table has a row for every engine alone, as it would be used without
ours (its own text), and rows for the choice by type of page; another one says what of the
markdown's structure is kept; the last lines give pages per second of processor time, extraction
and chunking together, beside trafilatura's own extraction with its defaults in the same run.

* article: the truth is `articleBody`, scored by the rule of scrapinghub's
  article-extraction-benchmark: multisets of four-word shingles; precision and recall are means over
  pages, pages without a prediction are left out of precision and pages without truth out of recall.
* page types: the truth is `main_content`, scored by the rule of the Web Content Extraction
  Benchmark: multisets of lower-case words; F1 is the mean over the pages of a type, and the last
  line the mean over types.
"""

import gzip
import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = "SPINNERET_BENCHMARK_DATA"
SHINGLE_WORDS = 4


sys.path.insert(0, str(REPOSITORY / "layers" / "common"))

import rs_trafilatura  # noqa: E402 (path set above)
import trafilatura  # noqa: E402 (path set above)

from spinneret.content.chunking.chunks import chunk  # noqa: E402 (path set above)
from spinneret.content.chunking.models import TokenSpan  # noqa: E402 (path set above)
from spinneret.content.extraction.markdown import to_markdown  # noqa: E402 (path set above)
from spinneret.content.extraction.markup import parse_html, spared  # noqa: E402 (path set above)
from spinneret.content.extraction.models import Content  # noqa: E402 (path set above)
from spinneret.content.extraction.pages import extract  # noqa: E402 (path set above)
from spinneret.content.extraction.regions import content_regions  # noqa: E402 (path set above)
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
    """Print the tables of both sets."""
    folder = os.environ.get(DATA)
    if not folder:
        sys.exit(f"{DATA} isn't set: the folder that holds article-extraction and page-types")
    for name, rows_of in (("article-extraction", article_rows), ("page-types", page_type_rows)):
        if not (Path(folder) / name / "ground-truth.json").is_file():
            sys.exit(f"no {name}/ground-truth.json in {folder} ({DATA})")
        measure(name, list(read_pages(Path(folder) / name)), rows_of)


def measure(
    name: str,
    pages: Sequence[tuple[str, str, dict[str, str]]],
    rows_of: Callable[[Sequence[str], Sequence[dict[str, str]]], list[Row]],
) -> None:
    """All tables of one set."""
    truths = [truth for _, _, truth in pages]
    started = time.process_time()
    contents = [extracted(page, url) for page, url, _ in pages]
    for content in contents:
        if content is not None:
            chunk(content.markdown, tokens(content.markdown), **SIZES)
    ours = time.process_time() - started
    rows: list[Row] = []
    alone: dict[str, float] = {}
    for engine, text_of in ALONE.items():
        started = time.process_time()
        texts = [text_of(page, url) for page, url, _ in pages]
        alone[engine] = time.process_time() - started
        rows.append(replace(rows_of(texts, truths)[-1], name=engine))
    texts = ["" if content is None else content.text for content in contents]
    print_table(name, [*rows, *rows_of(texts, truths)])
    print_structure([page for page, _, _ in pages], contents, truths)
    for engine, seconds in [("ours, with chunks", ours), *alone.items()]:
        share = alone["trafilatura"] / seconds
        print(f"{engine:<20}{len(pages) / seconds:>6.1f} pages/s of processor time, {share:.2f}")
    agreements = [c.extraction.agreement for c in contents if c is not None and c.extraction]
    print(f"mean agreement of engines {mean(agreements):.3f}\n")


def regions_alone(page: str, _: str) -> str:
    """Our rules' own choice."""
    try:
        body = parse_html(spared(page)).find("body")
    except ContentRefused:
        return ""
    if body is None:
        return ""
    found = content_regions(body)
    return to_markdown(found.root, found.left_out)


ALONE: dict[str, Callable[[str, str], str]] = {
    "regions": regions_alone,
    "trafilatura": lambda page, _: trafilatura.extract(page) or "",
    "  no comments": lambda page, _: trafilatura.extract(page, include_comments=False) or "",
    "  precise": lambda page, _: (
        trafilatura.extract(page, include_comments=False, favor_precision=True) or ""
    ),
    "rs-trafilatura": lambda page, url: rs_trafilatura.extract(page, url=url).main_content,
}
SIZES = {"size": 510, "overlap": 50, "minimum": 50, "max_bytes": 10240}


def tokens(text: str) -> list[TokenSpan]:
    """About as many as the tokenizers of embedding models give."""
    return [
        TokenSpan(start=found.start(), end=found.end())
        for found in re.finditer(r"\w{1,6}|[^\w\s]", text)
    ]


def print_structure(
    sources: Sequence[str], contents: Sequence[Content | None], truths: Sequence[dict[str, str]]
) -> None:
    """What of the headings, links, cells and code that the truth holds is kept as such."""
    kept: Counter[str] = Counter()
    there: Counter[str] = Counter()
    for source, content, truth in zip(sources, contents, truths, strict=True):
        if content is None:
            continue
        text = plain(truth.get("main_content") or truth.get("articleBody") or "")
        for kind, xpath in STRUCTURE.items():
            shown = plain(
                "\n".join(re.findall(MARKED[kind], content.markdown, re.MULTILINE | re.DOTALL))
            )
            for element in parse_html(spared(source)).xpath(xpath):
                words_of = plain(" ".join(map(str, element.itertext())))
                if len(words_of) > 3 and f" {words_of} " in f" {text} ":
                    there[kind] += 1
                    kept[kind] += f" {words_of} " in f" {shown} "
    print(*(f"{kind} {kept[kind]} of {there[kind]}" for kind in there), sep=", ", end=" kept\n")


STRUCTURE = {
    "headings": "//body//*[self::h1 or self::h2 or self::h3 or self::h4 or self::h5]",
    "links": "//body//a[starts-with(@href, 'http') or starts-with(@href, '/')]",
    "cells": "//body//table//*[self::td or self::th][not(.//table)]",
    "code": "//body//pre",
}
MARKED = {
    "headings": r"^#{1,6} (.*?)$",
    "links": r"\[((?:[^\[\]\\]|\\.)*)\]\(http",
    "cells": r"^\|.*?$",
    "code": r"^ *```(.*?)```",
}


def plain(text: str) -> str:
    """Words only, so that marks don't count."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def read_pages(folder: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """HTML, URL and truth of every page."""
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for identity, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{identity}.html.gz").read_bytes())
        yield body.decode("utf-8", "replace"), truth["url"], truth


def extracted(page: str, url: str) -> Content | None:
    """None where the page is refused."""
    try:
        return extract(page, "text/html", url)
    except ContentRefused:
        return None


def article_rows(predictions: Sequence[str], truths: Sequence[dict[str, str]]) -> list[Row]:
    """One row: F1 is the harmonic mean of the two means."""
    scores = [
        shared_score(shingles(truth["articleBody"]), shingles(predicted))
        for predicted, truth in zip(predictions, truths, strict=True)
    ]
    precision = mean(score.precision for score in scores if score.precision is not None)
    recall = mean(score.recall for score in scores if score.recall is not None)
    f1 = 2 * precision * recall / (precision + recall)
    return [Row("choice", len(scores), precision, recall, f1)]


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


def shared_score[Item: Hashable](truth: Counter[Item], predicted: Counter[Item]) -> Score:
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
