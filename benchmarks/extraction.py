"""Measure quality and speed of content extraction on two labelled sets of pages.

    SPINNERET_BENCHMARK_DATA=DIR python benchmarks/extraction.py

`DIR` holds the folders `article-extraction` and `page-types`, each with `ground-truth.json` and
`html/<id>.html.gz`. They aren't part of this repository, because the texts belong to their
publishers.

For each set, the first table has a row for each engine alone (its own text, as it would be used
without our choice), and rows for our choice by type of page. The second table has the F1 of each
engine by type, and the mean difference of the choice to the engine, page by page, with its standard
error. The next line counts the structure that the markdown keeps. The last lines give processor
time (pages per second, the slowest twentieth) and Lambda's price; our time includes chunking.

The scoring rules are in extraction_scores.py.
"""

import gzip
import json
import math
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = "SPINNERET_BENCHMARK_DATA"


sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "layers" / "common")]

import rs_trafilatura
import trafilatura

from benchmarks.extraction_scores import (
    Row,
    article_rows,
    page_f1,
    page_type_rows,
)
from benchmarks.prices import GIGABYTE_SECOND
from spinneret.content.chunking.chunks import chunk
from spinneret.content.chunking.models import TokenSpan
from spinneret.content.extraction.markdown import to_markdown
from spinneret.content.extraction.markup import parse_html, spared
from spinneret.content.extraction.models import Content
from spinneret.content.extraction.pages import extract
from spinneret.content.extraction.regions import content_regions
from spinneret.kernel.errors import ContentRefused


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
    """Print all tables of one set."""
    truths = [truth for _, _, truth in pages]
    contents: list[Content | None] = []
    seconds: dict[str, list[float]] = {OURS: []}
    for page, url, _ in pages:
        started = time.process_time()
        content = extracted(page, url)
        if content is not None:
            chunk(content.markdown, tokens(content.markdown), **SIZES)
        seconds[OURS].append(time.process_time() - started)
        contents.append(content)
    texts = {OURS: ["" if content is None else content.text for content in contents]}
    for engine, text_of in ALONE.items():
        texts[engine], seconds[engine] = [], []
        for page, url, _ in pages:
            started = time.process_time()
            texts[engine].append(text_of(page, url))
            seconds[engine].append(time.process_time() - started)
    rows = [replace(rows_of(texts[engine], truths)[-1], name=engine) for engine in ALONE]
    print_table(name, [*rows, *rows_of(texts[OURS], truths)])
    print_by_type(texts, truths)
    print_structure([page for page, _, _ in pages], contents, truths)
    for engine, each in seconds.items():
        print_times(engine, each)
    agreements = [c.extraction.agreement for c in contents if c is not None and c.extraction]
    print(f"mean agreement of engines {mean(agreements):.3f}\n")


def print_by_type(texts: dict[str, list[str]], truths: Sequence[dict[str, str]]) -> None:
    """Print F1 of each engine by type, and the gain of the choice over it, page by page."""
    found = {
        engine: [page_f1(text, truth) for text, truth in zip(each, truths, strict=True)]
        for engine, each in texts.items()
    }
    types = [truth.get("page_type", "article") for truth in truths]
    print(f"{'F1 by type':<16}", *(f"{kind[:8]:>9}" for kind in sorted(set(types))), sep="")
    for engine, scores in found.items():
        by_type: dict[str, list[float]] = defaultdict(list)
        for kind, f1 in zip(types, scores, strict=True):
            by_type[kind].append(f1)
        cells = "".join(f"{mean(each):>9.3f}" for _, each in sorted(by_type.items()))
        gains = [one - other for one, other in zip(found[OURS], scores, strict=True)]
        error = stdev(gains) / math.sqrt(len(gains))
        print(f"{engine:<16}{cells}   choice {mean(gains):+.4f} ({error:.4f})")


def print_times(engine: str, seconds: Sequence[float]) -> None:
    """Print an engine's processor time, and the price of the crawl worker's memory for it."""
    slow = sorted(seconds)[math.ceil(0.95 * len(seconds)) - 1]
    price = 1000 * mean(seconds) / PROCESSORS * GIGABYTES * GIGABYTE_SECOND
    print(
        f"{engine:<20}{len(seconds) / sum(seconds):>6.1f} pages/s of processor time, p95 "
        f"{1000 * slow:.0f} ms, longest {max(seconds):.1f} s; 1,000 pages ${price:.4f}"
    )


def regions_alone(page: str, _: str) -> str:
    """Return the markdown of the regions that our rules choose, without another engine."""
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
OURS = "choice"
GIGABYTES = 1.0
"""Memory of the crawl worker (template.yaml)."""
PROCESSORS = 1024 / 1769
"""Share of a processor that Lambda gives to this memory."""
SIZES = {"size": 510, "overlap": 50, "minimum": 50, "max_bytes": 10240}


def tokens(text: str) -> list[TokenSpan]:
    """Split a text into about as many tokens as the tokenizers of embedding models."""
    return [
        TokenSpan(start=found.start(), end=found.end())
        for found in re.finditer(r"\w{1,6}|[^\w\s]", text)
    ]


def print_structure(
    sources: Sequence[str], contents: Sequence[Content | None], truths: Sequence[dict[str, str]]
) -> None:
    """Print how many headings, links, cells and code blocks of the truth the markdown keeps."""
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
    """Return only the words of a text, so that marks don't count."""
    return " ".join(re.findall(r"[^\W_]+", text.lower()))


def read_pages(folder: Path) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield HTML, URL and truth of every page."""
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for identity, truth in truths.items():
        body = gzip.decompress((folder / "html" / f"{identity}.html.gz").read_bytes())
        yield body.decode("utf-8", "replace"), truth["url"], truth


def extracted(page: str, url: str) -> Content | None:
    """Return the content of a page; None if the page is refused."""
    try:
        return extract(page, "text/html", url)
    except ContentRefused:
        return None


def print_table(name: str, rows: Sequence[Row]) -> None:
    """Print the rows as a table whose columns are as wide as the longest type."""
    print(f"{name:<16}{'pages':>6}{'F1':>8}{'precision':>11}{'recall':>8}")
    for row in rows:
        print(f"{row.name:<16}{row.pages:>6}{row.f1:>8.4f}{row.precision:>11.4f}{row.recall:>8.4f}")


if __name__ == "__main__":
    main()
