"""Four sets of documents and questions for `retrieval.py`, of different kinds.

* documentation: pages of Python's library documentation (Debian's `python3.11-doc`) with our 456
  questions;
* web: the first part of 350 labelled pages of seven types (`SPINNERET_BENCHMARK_DATA`) with our 184
  questions;
* facts: short entries of the dictionary FOLDOC (Debian's `dict-foldoc`). A question is WordNet's
  gloss (`wordnet-base`) of the same word, without the word, so that two authors describe one thing;
* website: the demonstration website with the 25 questions of its regression test.

Pages and dictionaries aren't part of this repository.
"""

import gzip
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import retrieval_harder_questions as harder
import retrieval_questions as plain
import retrieval_web_questions as of_web

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "layers" / "common")]

from spinneret.content.extraction.pages import extract
from spinneret.kernel.errors import ContentRefused
from tests.site.questions import EXACT_TERMS, QUESTIONS
from tests.site.server import PAGES, page_paths

LARGEST: Final = 200_000  # bytes of HTML; longer pages would give half of all chunks
OTHERS: Final = 28  # pages of the documentation without questions
FACTS: Final = 1_000
FACT_CHARACTERS: Final = 3_000
WEB_CHARACTERS: Final = 3_000  # of a page, about two chunks
_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_COMPUTER_SCIENCE: Final = "06128570"  # synset of WordNet 3.0


@dataclass(frozen=True)
class Text:
    """A document of a set."""

    key: str
    title: str | None
    markdown: str


@dataclass(frozen=True)
class Question:
    """A question, its kind and the document that answers it."""

    kind: str
    text: str
    wanted: str


Set = tuple[list[Text], list[Question]]


def documentation(root: Path) -> Set:
    """Return the pages of the questions, with some other pages, and the questions."""
    folder = root / "usr/share/doc/python3.11/html/library"
    asked = [folder / f"{name}.html" for name in plain.QUESTIONS]
    others = [
        path
        for path in sorted(folder.glob("*.html"))
        if path not in asked and path.stat().st_size < LARGEST
    ]
    texts = [
        _text(path.stem, path.read_text(), f"https://docs.python.org/3.11/library/{path.name}")
        for path in [*asked, *others[:OTHERS]]
    ]
    return [each for each in texts if each], _questions(
        (plain.KINDS, plain.QUESTIONS), (harder.KINDS, harder.QUESTIONS)
    )


def web(_: Path) -> Set:
    """Return the start of each page's extracted text with its title, and the questions."""
    folder = Path(os.environ["SPINNERET_BENCHMARK_DATA"]) / "page-types"
    pages = json.loads((folder / "ground-truth.json").read_text())
    texts = []
    for key, page in sorted(pages.items()):
        packed = (folder / "html" / f"{key}.html.gz").read_bytes()
        html = gzip.decompress(packed).decode("utf-8", "replace")
        texts.append(_text(key, html, page["url"]))
    cut = [replace(each, markdown=each.markdown[:WEB_CHARACTERS]) for each in texts if each]
    return cut, _questions((of_web.KINDS, of_web.QUESTIONS))


def facts(root: Path) -> Set:
    """Return the entries of the questions, with some other entries, and the questions."""
    entries = _entries(root / "usr/share/dictd")
    asked: dict[str, Question] = {}
    for words, gloss in _glosses(root / "usr/share/wordnet"):
        word = next((each for each in words if each in entries), None)
        text = re.sub(r"^\([^)]*\) *", "", gloss.split(";")[0]).strip()
        if word is not None and not any(each in text.lower() for each in words):
            asked.setdefault(word, Question("gloss", text, word))
    step = max(1, len(entries) // FACTS)
    chosen = sorted({*asked, *sorted(entries)[::step]})
    return [Text(word, word, entries[word]) for word in chosen], list(asked.values())


def website(_: Path) -> Set:
    """Return the pages of the demonstration website, and the questions."""
    texts = []
    for path in page_paths():
        file = PAGES / f"{path.strip('/') or 'index'}.html"
        if file.exists():
            texts.append(_text(path, file.read_text(), f"https://silk.example{path}"))
    questions = [
        Question("exact" if each in EXACT_TERMS else "paraphrased", each.query, each.path)
        for each in QUESTIONS
    ]
    return [each for each in texts if each], questions


SETS: Final[Mapping[str, Callable[[Path], Set]]] = {
    "documentation": documentation,
    "web": web,
    "facts": facts,
    "website": website,
}


def _questions(
    *sources: tuple[Sequence[str], Mapping[str, Sequence[str]]],
) -> list[Question]:
    return [
        Question(kind, text, key)
        for key in sources[0][1]
        for kinds, questions in sources
        for kind, text in zip(kinds, questions[key], strict=True)
    ]


def _text(key: str, html: str, url: str) -> Text | None:
    try:
        content = extract(html, "text/html", url)
    except ContentRefused:
        return None
    return Text(key, content.title, content.markdown)


def _entries(folder: Path) -> dict[str, str]:
    """Return short entries by lower-case word, without the dictionary's markup."""
    data = gzip.decompress((folder / "foldoc.dict.dz").read_bytes())
    found: dict[str, str] = {}
    for line in (folder / "foldoc.index").read_text().splitlines():
        word, start, length = line.split("\t")[:3]
        first = _number(start)
        text = data[first : first + _number(length)].decode("utf-8", "replace")
        text = re.sub(r"[{}]|<[^>]*>", "", text)
        if not word.startswith("00-") and len(text) < FACT_CHARACTERS:
            found.setdefault(word.lower(), re.sub(r"\n +", "\n", text).strip())
    return found


def _number(text: str) -> int:
    value = 0
    for digit in text:
        value = value * 64 + _DIGITS.index(digit)
    return value


def _glosses(folder: Path) -> list[tuple[list[str], str]]:
    """Return the words and the gloss of each noun of computer science."""
    found = []
    for line in (folder / "data.noun").read_text().splitlines():
        head, _, gloss = line.partition("|")
        if f";c {_COMPUTER_SCIENCE} n" in head:
            fields = head.split()
            words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
            found.append(([each.replace("_", " ").lower() for each in words], gloss.strip()))
    return found
