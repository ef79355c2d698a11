"""Remove parts of condition expressions.

The part stays in the text, but always holds (a term of AND, the whole) or never holds (a branch of
OR), because DynamoDB rejects a request with values that its expressions don't use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

MISCOUNTED: Final = 86
"""Exit code of a process if a condition has another shape than in the source."""

_TOKEN: Final = re.compile(r"[()]|[^\s()]+")
_EQUALITY: Final = re.compile(r"#(\w+) = :is_\1")  # a term of `dynamo.equals`


@dataclass(frozen=True, kw_only=True)
class Weakening:
    """An expression without one of its parts."""

    dropped: str
    expression: str


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A part of an expression: `outer` includes the parentheses around it, `inner` doesn't."""

    outer: tuple[int, int]
    inner: tuple[int, int]
    word: str = ""
    """AND or OR; empty for a comparison or a function."""
    parts: tuple[_Node, ...] = ()


def weakenings(expression: str) -> list[Weakening]:
    """Return the expression without the whole, then without each part at any depth.

    A single comparison has no parts but the whole. Raises ValueError.
    """
    root = _Parser(expression).parse()
    whole = expression[slice(*root.inner)]
    found = [
        Weakening(
            dropped="whole" if root.parts else _shown(whole), expression=f"{whole} OR NOT ({whole})"
        )
    ]
    for word, part in _parts(root):
        inner = expression[slice(*part.inner)]
        alone = f"({inner})" if part.word == "OR" else inner
        instead = f"({inner} OR NOT ({inner}))" if word == "AND" else f"({alone} AND NOT ({inner}))"
        start, end = part.outer
        found.append(
            Weakening(
                dropped=_shown(inner), expression=expression[:start] + instead + expression[end:]
            )
        )
    return found


def weakened(guard: Any, number: int, count: int | None) -> Any:
    """Return an expression, a Condition or a transaction's write with a weakening applied.

    Mutants call this function. It ends the process unless there are `count` weakenings (None:
    unknown), because it would remove the wrong part.
    """
    match guard:
        case "" | ("", _):  # no condition in this case
            return guard
        case str():
            return _weakening(guard, number, count)
        case (str() as expression, values):
            return _weakening(expression, number, count), values
        case dict():
            [(kind, action)] = guard.items()
            expression = _weakening(action["ConditionExpression"], number, count)
            return {kind: {**action, "ConditionExpression": expression}}
        case _:
            os._exit(MISCOUNTED)


def _weakening(expression: str, number: int, count: int | None) -> str:
    found = weakenings(expression)
    if count not in (None, len(found)):
        os._exit(MISCOUNTED)
    return found[number].expression


def _parts(node: _Node) -> Iterator[tuple[str, _Node]]:
    for part in node.parts:
        yield node.word, part
        yield from _parts(part)


def _shown(text: str) -> str:
    return _EQUALITY.sub(r"\1", " ".join(text.split()))


class _Parser:
    """Parser of condition expressions.

    OR has a lower precedence than AND, and AND a lower one than NOT (DynamoDB Developer Guide,
    "Condition and filter expressions, operators, and functions").
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_TOKEN.finditer(text))
        self._at = 0

    def parse(self) -> _Node:
        node = self._either()
        if self._at < len(self._tokens):
            raise ValueError(f"not a condition: {self._text}")
        return node

    def _word(self) -> str:
        return self._tokens[self._at][0].upper() if self._at < len(self._tokens) else ""

    def _either(self) -> _Node:
        parts = [self._all()]
        while self._word() == "OR":
            self._at += 1
            parts.append(self._all())
        return _joined("OR", parts)

    def _all(self) -> _Node:
        parts = [self._operand()]
        while self._word() == "AND":
            self._at += 1
            parts.append(self._operand())
        return _joined("AND", parts)

    def _operand(self) -> _Node:
        first = self._at
        if self._word() == "NOT":
            self._at += 1
            denied = self._operand()
            return replace(self._node(first), word=denied.word, parts=denied.parts)
        if self._word() != "(":
            self._skip_comparison()
            return self._node(first)
        self._at += 1
        group = self._either()
        if self._word() != ")":
            raise ValueError(f"not a condition: {self._text}")
        self._at += 1
        return replace(group, outer=self._node(first).outer)

    def _skip_comparison(self) -> None:
        depth, between = 0, False
        while word := self._word():
            if depth == 0 and (word in (")", "OR") or (word == "AND" and not between)):
                return
            depth += (word == "(") - (word == ")")
            between = word == "BETWEEN" or (between and word != "AND")
            self._at += 1

    def _node(self, first: int) -> _Node:
        if first == self._at:
            raise ValueError(f"not a condition: {self._text}")
        span = self._tokens[first].start(), self._tokens[self._at - 1].end()
        return _Node(outer=span, inner=span)


def _joined(word: str, parts: list[_Node]) -> _Node:
    if len(parts) == 1:
        return parts[0]
    span = parts[0].outer[0], parts[-1].outer[1]
    return _Node(outer=span, inner=span, word=word, parts=tuple(parts))
