"""Test whether the shares in content extraction's choice hold on pages not used to choose them.

    SPINNERET_BENCHMARK_DATA=DIR python benchmarks/extraction_folds.py

Each share (threshold) of `choice.py` and `threads.py` is tested unchanged, a third smaller and a
third larger. The set of types that only the classifier decides is tested unchanged, with other
types, and empty. For each set of pages, the table has the mean F1 of each variant of the choice,
and its mean difference to the present choice, page by page, with its standard error. Each engine
runs once per page. The last line of a set is the cross-validation: the pages are divided into five
folds, site by site; each fold is scored with the variant that is best on the other four. The data
are the same as in benchmarks/extraction.py.
"""

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from types import ModuleType
from typing import Any, Final
from unittest.mock import patch
from urllib.parse import urlsplit
from zlib import crc32

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.extraction import (
    DATA,
    extracted,
    read_pages,
)
from benchmarks.extraction_scores import page_f1
from spinneret.content.extraction import choice, pages, threads
from spinneret.content.extraction.models import PageType
from spinneret.content.extraction.page import Choice, ParsedPage

PRESENT: Final = "as it stands"
FOLDS: Final = 5
FACTORS: Final = (2 / 3, 4 / 3)
SHARES: Final[Sequence[tuple[ModuleType, str]]] = (
    (choice, "_ARTICLE_SHARE"),
    (choice, "_SHORT_SHARE"),
    (choice, "_THREAD_SHARE"),
    (choice, "_WHOLE_SHARE"),
    (choice, "_SAME"),
    (threads, "_LEAST_LEFT"),
)
"""Shares that take effect if the classifier gives an answer."""

Pages = Sequence[tuple[str, str, dict[str, str]]]


def main() -> None:
    """Print the table."""
    folder = os.environ.get(DATA)
    if not folder:
        sys.exit(f"{DATA} isn't set: the folder that holds article-extraction and page-types")
    asked_once = replace(
        pages.ENGINES,
        classifier=remembering(*pages.ENGINES.classifier),
        articles=remembering(*pages.ENGINES.articles),
    )
    with patch.object(pages, "ENGINES", asked_once):
        measure(Path(folder))


def remembering(name: str, engine: Callable[..., Choice | None]) -> tuple[str, Any]:
    """Return the engine with its name; it remembers its answer for each page."""
    known: dict[int, Choice | None] = {}

    def answer(page: ParsedPage, *given: object, **modes: bool) -> Choice | None:
        key = hash((page.text, *given, *modes.values()))
        if key not in known:
            known[key] = engine(page, *given, **modes)
        return known[key]

    return name, answer


def measure(folder: Path) -> None:
    """Print the lines of each set."""
    for name in ("article-extraction", "page-types"):
        labelled = list(read_pages(folder / name))
        folds = dealt(labelled)
        results: dict[str, list[float]] = {}
        for variant, changed in variants():
            with changed:
                results[variant] = [
                    page_f1(chosen(page, url), truth) for page, url, truth in labelled
                ]
            show(name, variant, results[variant], results[PRESENT])
        show(name, "cross-validated", cross_validated(results, folds), results[PRESENT])


def show(name: str, variant: str, scores: Sequence[float], present: Sequence[float]) -> None:
    gains = [one - other for one, other in zip(scores, present, strict=True)]
    error = stdev(gains) / math.sqrt(len(gains))
    print(f"{name:<20}{variant:<26}{mean(scores):.4f} {mean(gains):+.4f} ({error:.4f})", flush=True)


@contextmanager
def share(module: ModuleType, name: str, factor: float) -> Iterator[None]:
    """Multiply a share of a module by a factor, up to 1, until the block ends."""
    with patch.object(module, name, min(1.0, getattr(module, name) * factor)):
        yield


def variants() -> Iterator[tuple[str, AbstractContextManager[object]]]:
    """Yield the name of each variant, and a context manager that applies it."""
    yield PRESENT, share(choice, "_SAME", 1.0)
    for kinds in ((), (PageType.COLLECTION,), (PageType.COLLECTION, PageType.PRODUCT)):
        named = " and ".join(kinds) or "no type"
        yield f"classifier: {named}", patch.object(choice, "_CLASSIFIED", frozenset(kinds))
    for module, name in SHARES:
        for factor in FACTORS:
            yield f"{name.strip('_').lower()} * {factor:.2f}", share(module, name, factor)


def chosen(page: str, url: str) -> str:
    """Return the text that the choice of engines selects."""
    content = extracted(page, url)
    return "" if content is None else content.text


def dealt(labelled: Pages) -> list[int]:
    """Return the fold of each page; all pages of a site are in one fold."""
    sites = (".".join((urlsplit(url).hostname or "").split(".")[-2:]) for _, url, _ in labelled)
    return [crc32(site.encode()) % FOLDS for site in sites]


def cross_validated(results: dict[str, list[float]], folds: Sequence[int]) -> list[float]:
    """Return the F1 of each page with the variant that is best on the other folds."""
    scores = [0.0] * len(folds)
    for fold in range(FOLDS):
        best = max(
            results.values(),
            key=lambda each: mean(f1 for f1, its in zip(each, folds, strict=True) if its != fold),
        )
        for page, its in enumerate(folds):
            if its == fold:
                scores[page] = best[page]
    return scores


if __name__ == "__main__":
    main()
