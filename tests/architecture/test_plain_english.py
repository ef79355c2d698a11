"""Docstrings, comments, messages and pages contain few sentences that are hard to read."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.architecture.conftest import ROOT

PRODUCT: Final = ("layers/common", "functions", "infra/local", "docs", "README.md")
REST: Final = ("tests", "benchmarks", "clients")
ALLOWED: Final = {
    r"^(Those|Of|That)\b": (0, 0),
    r"^(What|How|Who\w*)\b": (0, 0),
    r"^(By|In|As|From|To|With\w*|For|At|Behind) [^.]{0,80}\.?$": (5, 7),
    r"\bthose (of|that|in|which|whose|with|under)\b": (0, 17),
    r"\bthat there (is|are)(?! (no|none|a|never)\b)": (0, 0),
    r"\b([Ww]ho|what|which)ever\b|\bwhom\b": (0, 9),
    r"(?<!there are )\b(any|no) more\b(?! than)": (0, 3),
    r"\b(nothing|nobody|none) (is|was|has|can|may|stands|waits|needs|asks)\b": (5, 5),
    r"\b(stands?|stood|standing)\b(?! for)": (0, 0),
    r"\bas (it|they) (is|are|was|were|stands?|came)\b": (3, 3),
    r"\b(is|are|was|were) to be\b": (0, 0),
    r"\b(tells?|told|hears?|heard|sees? to|seen to|knows|wants|believes?)\b": (0, 6),
    r"\b(of late|anew|besides?|aside)\b": (6, 9),
    r"\bhand(s|ed|ing)? (it |them )?(on|back|over)\b|\bhand-back": (1, 0),
    r"\b(go|goes|going|went) on\b": (0, 0),
    r"\b(is|are|was|were) left\b(?! (out|alone))|\b(is|are) over\b": (0, 0),
}
"""Highest counts of each pattern, in PRODUCT and in REST.

Lower them after a rewrite; a good sentence may raise one by one.
"""

_ANY: Final = re.compile("|".join(f"(?:{pattern})" for pattern in ALLOWED))
_TEXT: Final = re.compile(r'(^ *r?)?"{3}(.*?)"{3}', re.DOTALL | re.MULTILINE)
"""A docstring, at the start of its line, or another triple-quoted string."""
_RAISE: Final = re.compile(r"^( *)raise [^\n]*(?:\n(?:\1 |\1\)|(?=\n))[^\n]*)*", re.MULTILINE)
_STRING: Final = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_VALUE: Final = re.compile(r"\{[^{}]*\}")
_JOINT: Final = re.compile(r'"\n *f?"')
"""Boundary between two parts of a string."""
_COMMENT: Final = re.compile(r"(?:^\s*|  )# (.*)$")
_CODE_BLOCK: Final = re.compile(r"`{3}.*?`{3}", re.DOTALL)
_SENTENCE: Final = re.compile(r"\S.*?(?:(?<=[.!?:])(?=\s)|(?=\n\n)|\Z)", re.DOTALL)


class Text(NamedTuple):
    """A docstring, comment, message or sentence."""

    path: Path
    line: int
    words: str


def _texts(path: Path) -> Iterator[Text]:
    source, shown = path.read_text(), path.relative_to(ROOT)
    found = _in_markdown(source) if path.suffix == ".md" else _in_python(source)
    for line, text in found:
        yield Text(shown, line, " ".join(text.split()))


def _in_markdown(source: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences outside of code blocks, whose lines are kept for the line numbers."""
    prose = _CODE_BLOCK.sub(lambda block: "\n" * block[0].count("\n"), source)
    for sentence in _SENTENCE.finditer(prose):
        yield prose.count("\n", 0, sentence.start()) + 1, sentence[0]


def _in_python(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings, messages of raised errors, and comments, as the formatter lays them out.

    Parsing takes three times as long.
    """
    for found in _TEXT.finditer(source):
        if found[1] is not None:
            yield source.count("\n", 0, found.start(2)) + 1, found[2]
    for found in _RAISE.finditer(source):
        for message in _STRING.findall(_JOINT.sub("", found[0])):
            for part in _VALUE.split(message):
                yield source.count("\n", 0, found.start()) + 1, part
    for number, line in enumerate(source.splitlines(), start=1):
        if "# " in line and (comment := _COMMENT.search(line)):
            yield number, comment[1]


def _suspects(folders: Iterable[str]) -> list[Text]:
    """Return the texts that match any pattern."""
    files = [
        file
        for name in folders
        for file in (ROOT / name, *sorted((ROOT / name).rglob("*")))
        if file.suffix in {".py", ".md"}
    ]
    return [text for file in files for text in _texts(file) if _ANY.search(text.words)]


@pytest.mark.parametrize(("number", "folders"), [(0, PRODUCT), (1, REST)])
def test_few_sentences_have_to_be_read_twice(number: int, folders: tuple[str, ...]) -> None:
    suspects, wrong = _suspects(folders), []
    for pattern, limits in ALLOWED.items():
        allowed = limits[number]
        matches = [text for text in suspects for _ in re.finditer(pattern, text.words)]
        if len(matches) > allowed:
            wrong.append(f"{len(matches)} sentences match {pattern}, {allowed} are allowed:")
            wrong += [f"  {text.path}:{text.line}: {text.words}" for text in matches]
    assert not wrong, "\n".join(wrong)
