"""Formulas in MathML as one line of text."""

from collections.abc import Callable, Mapping
from typing import Final

from lxml import etree

from spinneret.content.extraction.vocabulary import UNSEEN

_MAX_DEPTH: Final = 50
"""Deeper parts are reduced to their text."""
_PAIRS: Final[Mapping[str, Callable[[str, str], str]]] = {
    "mfrac": lambda above, below: f"{above}/{below}",
    "msup": lambda base, power: f"{base}^{power}",
    "mover": lambda base, over: f"{base}^{over}",
    "msub": lambda base, index: f"{base}_{index}",
    "munder": lambda base, under: f"{base}_{under}",
    "mroot": lambda base, degree: f"root({base}, {degree})",
}
"""Elements of two parts, whose texts would run together: a half would be 12."""
_TRIPLES: Final = frozenset({"msubsup", "munderover"})


def formula_text(element: etree._Element, depth: int = 0) -> str:
    """Return a formula with marks between the parts of fractions, powers and indices."""
    if depth == _MAX_DEPTH:
        return "".join(map(str, element.itertext()))
    parts = [
        formula_text(child, depth + 1) + _shown(child.tail)
        for child in element
        if child.tag not in UNSEEN
    ]
    tag = element.tag
    if tag in _PAIRS and len(parts) == 2:
        return _PAIRS[tag](*map(_grouped, parts))
    if tag in _TRIPLES and len(parts) == 3:
        base, below, above = map(_grouped, parts)
        return f"{base}_{below}^{above}"
    inner = "".join([_shown(element.text), *parts])
    return f"\u221a{_grouped(inner)}" if tag == "msqrt" else inner


def _shown(text: str | None) -> str:
    """Return a text unless it only indents the markup."""
    return "" if text is None or text.isspace() else text


def _grouped(part: str) -> str:
    return part if len(part) < 2 or part.isalnum() else f"({part})"
