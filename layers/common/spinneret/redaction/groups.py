"""Lists and objects in a text behind a name that leaves open whether its value is a secret."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Final

from spinneret.redaction import names, values, verdicts
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_SPACE: Final = r"(?:\s|\\{1,15}[nrt])*+"
_TOKEN: Final = re.compile(
    rf"{_SPACE}(?:(?P<sign>[{{}}\[\](),:])|(?P<quote>[bru]?\\{{0,15}}[\"'])|(?P<word>[\w.+\-]++))"
)
_COLON: Final = re.compile(rf"{_SPACE}:")


def leaves(text: str, start: int, kind: Kind) -> Generator[Span, None, int]:
    """The secrets in the group that begins at `start`; answers where the group or its syntax ends.

    Cut off groups are read as far as they go.
    """
    around: list[Kind] = []  # what the names of the groups around say
    here = following = kind  # the same of this group, and of the value that follows
    position = start
    while (token := _TOKEN.match(text, position)) is not None:
        position = token.end()
        match token["sign"]:
            case None:
                content, end, position = _content(text, token)
                if _COLON.match(text, position):
                    following = _below(text[content : min(end, content + values.LONG)], here)
                elif token["quote"] and values.is_secret(following, text[content:end]):
                    yield Span(content, end, MARK)
            case "{" | "[" | "(":
                around.append(here)
                here = following
            case "," | ":":
                following = here if token["sign"] == "," else following
            case _:
                here = following = around.pop()
                if not around:
                    break
    return position


def _content(text: str, token: re.Match[str]) -> tuple[int, int, int]:
    """Where a word or a quotation's content begins and ends, and what follows begins."""
    quotation = values.quoted_end(text, token.start("quote")) if token["quote"] else None
    return quotation or (*token.span(token.lastgroup or 0), token.end())


def _below(name: str, owner: Kind) -> Kind:
    """As `verdicts.below`, where the owner is known by its kind."""
    if owner.certain:
        return owner
    if name in verdicts.TYPES:
        return Kind.HARMLESS if name in verdicts.NO_TEXT else owner
    kind = names.kind_of(name)
    if kind is Kind.HARMLESS and verdicts.descends(owner):
        return Kind.RANDOM if verdicts.describes(name) else owner
    return kind
