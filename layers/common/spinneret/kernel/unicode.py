"""Texts that a store accepts, and their composed form."""

import re
import unicodedata
from typing import Final

_MARKS_MAX: Final = 30  # UAX 15, section 13: more than any language needs
# No mark is a letter, a digit or a blank.
_UNUSUAL_RUN: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{_MARKS_MAX + 1},}}")


def storable(text: str) -> str:
    """Replace unpaired surrogates by `?`: JSON's escapes and JavaScript have them, UTF-8 hasn't."""
    return text.encode("utf-8", "replace").decode()


def composed(text: str) -> str:
    """Return the text in NFC, with at most 30 marks on one character (UAX 15: stream-safe text).

    Without the bound, marks are sorted in quadratic time: for minutes in a page of a megabyte.
    """
    return unicodedata.normalize("NFC", _UNUSUAL_RUN.sub(_with_few_marks, text))


def _with_few_marks(run: re.Match[str]) -> str:
    kept, marks = [], 0
    for character in run[0]:
        marks = marks + 1 if unicodedata.category(character).startswith("M") else 0
        if marks <= _MARKS_MAX:
            kept.append(character)
    return "".join(kept)
