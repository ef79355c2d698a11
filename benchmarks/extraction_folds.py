"""Whether the shares of content extraction's choice hold on pages that they weren't chosen on.

    SPINNERET_BENCHMARK_DATA=DIR python benchmarks/extraction_folds.py

Every share of `choice.py` and `threads.py` is taken as it stands, a third smaller and a third
larger. The table has the mean F1 of the pages of both sets for each engine alone and for each
variant of the choice. The last line is the cross-validation: the pages are dealt into five folds,
type by type; on each fold counts the variant that is best on the other four. The data are those of
benchmarks/extraction.py.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from statistics import mean
from types import ModuleType
from typing import Final
from unittest.mock import patch

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

from benchmarks.extraction import (  # noqa: E402 - after the path above
    ALONE,
    DATA,
    extracted,
    read_pages,
    shared_score,
    shingles,
    words,
)
from spinneret.content.extraction import choice, threads  # noqa: E402 - after the path above

FOLDS: Final = 5
FACTORS: Final = (2 / 3, 4 / 3)
SHARES: Final[Sequence[tuple[ModuleType, str]]] = (
    (choice, "_ARTICLE_SHARE"),
    (choice, "_THREAD_SHARE"),
    (choice, "_CUT_SHARE"),
    (choice, "_SAME"),
    (threads, "_LEAST_LEFT"),
)
"""Those that count where the classifier answers."""

Pages = Sequence[tuple[str, str, dict[str, str]]]


def main() -> None:
    """Print the table."""
    folder = os.environ.get(DATA)
    if not folder:
        sys.exit(f"{DATA} isn't set: the folder that holds article-extraction and page-types")
    for name in ("article-extraction", "page-types"):
        pages = list(read_pages(Path(folder) / name))
        folds = dealt(pages)
        for engine, text_of in ALONE.items():
            alone = mean(score(text_of(page, url), truth) for page, url, truth in pages)
            print(f"{name:<20}{engine.strip():<24}{alone:.4f}", flush=True)
        results: dict[str, list[float]] = {}
        for variant, changed in variants():
            with changed:
                results[variant] = [score(chosen(page, url), truth) for page, url, truth in pages]
            print(f"{name:<20}{variant:<24}{mean(results[variant]):.4f}", flush=True)
        print(f"{name:<20}{'cross-validated':<24}{cross_validated(results, folds):.4f}", flush=True)


@contextmanager
def share(module: ModuleType, name: str, factor: float) -> Iterator[None]:
    """The module with another share, at most 1."""
    with patch.object(module, name, min(1.0, getattr(module, name) * factor)):
        yield


def variants() -> Iterator[tuple[str, AbstractContextManager[None]]]:
    """By name, what takes effect while it is entered."""
    yield "as it stands", share(choice, "_SAME", 1.0)
    for module, name in SHARES:
        for factor in FACTORS:
            yield f"{name.strip('_').lower()} * {factor:.2f}", share(module, name, factor)


def chosen(page: str, url: str) -> str:
    """The text that the choice of engines takes."""
    content = extracted(page, url)
    return "" if content is None else content.text


def score(text: str, truth: dict[str, str]) -> float:
    """F1 of one page's text, by the rule of its set."""
    if "articleBody" in truth:
        return shared_score(shingles(truth["articleBody"]), shingles(text)).f1
    return shared_score(words(truth["main_content"]), words(text)).f1


def dealt(pages: Pages) -> list[int]:
    """Each page's fold: the pages of a type take turns."""
    seen: Counter[str] = Counter()
    folds = []
    for _, _, truth in pages:
        page_type = truth.get("page_type", "article")
        folds.append(seen[page_type] % FOLDS)
        seen[page_type] += 1
    return folds


def cross_validated(results: dict[str, list[float]], folds: Sequence[int]) -> float:
    """The mean F1 of all pages, each by the variant that is best on the folds it isn't in."""
    scores: list[float] = []
    for fold in range(FOLDS):
        best = max(
            results.values(),
            key=lambda each: mean(f1 for f1, its in zip(each, folds, strict=True) if its != fold),
        )
        scores += [f1 for f1, its in zip(best, folds, strict=True) if its == fold]
    return mean(scores)


if __name__ == "__main__":
    main()
