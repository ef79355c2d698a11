"""Docstrings, comments, messages and pages contain few sentences that are hard to read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.architecture.conftest import ROOT

CHECKED: Final = ("layers/common", "functions", "infra/local", "docs", "README.md")
ALLOWED: Final = {
    r"^(Those|Of|That)\b": 0,
    r"^(What|How|Who\w*)\b": 0,
    r"^(By|In|As|From|To|With\w*|For|At|Behind) [^.]{0,80}\.?$": 5,
    r"\bthose (of|that|in|which|whose|with|under)\b": 0,
    r"\bthat there (is|are)(?! (no|none|a|never)\b)": 0,
    r"\b([Ww]ho|what|which)ever\b|\bwhom\b": 0,
    r"(?<!there are )\b(any|no) more\b(?! than)": 0,
    r"\b(nothing|nobody|none) (is|was|has|can|may|stands|waits|needs|asks)\b": 5,
    r"\b(stands?|stood|standing)\b(?! for)": 0,
    r"\bas (it|they) (is|are|was|were|stands?|came)\b": 3,
    r"\b(is|are|was|were) to be\b": 0,
    r"\b(tells?|told|hears?|heard|sees? to|seen to|knows|wants|believes?)\b": 0,
    r"\b(of late|anew|besides?|aside)\b": 6,
    r"\bhand(s|ed|ing)? (it |them )?(on|back|over)\b|\bhand-back": 1,
    r"\b(go|goes|going|went) on\b": 0,
    r"\b(is|are|was|were) left\b(?! (out|alone))|\b(is|are) over\b": 0,
}
"""Highest count of each pattern. Lower it after a rewrite; a good sentence may raise it by one."""

_ANY: Final = re.compile("|".join(f"(?:{pattern})" for pattern in ALLOWED))
_BLOCKS: Final = ("body", "handlers", "orelse", "finalbody", "cases")
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
    for statement in _statements(ast.parse(source)):
        if isinstance(statement, ast.Expr):
            yield from _strings(statement.value)
        elif isinstance(statement, ast.Raise):
            for part in ast.walk(statement):
                yield from _strings(part)
    for number, line in enumerate(source.splitlines(), start=1):
        if comment := _COMMENT.search(line):
            yield number, comment[1]


def _statements(parent: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node, but no expressions, which saves half the time."""
    for block in _BLOCKS:
        for statement in getattr(parent, block, ()):
            yield statement
            yield from _statements(statement)


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.lineno, node.value


def _suspects() -> list[Text]:
    """Return the texts that match any pattern."""
    files = [
        file
        for name in CHECKED
        for file in (ROOT / name, *sorted((ROOT / name).rglob("*")))
        if file.suffix in {".py", ".md"}
    ]
    return [text for file in files for text in _texts(file) if _ANY.search(text.words)]


@pytest.mark.heavy
def test_few_sentences_have_to_be_read_twice() -> None:
    suspects, wrong = _suspects(), []
    for pattern, allowed in ALLOWED.items():
        matches = [text for text in suspects for _ in re.finditer(pattern, text.words)]
        if len(matches) > allowed:
            wrong.append(f"{len(matches)} sentences match {pattern}, {allowed} are allowed:")
            wrong += [f"  {text.path}:{text.line}: {text.words}" for text in matches]
    assert not wrong, "\n".join(wrong)
