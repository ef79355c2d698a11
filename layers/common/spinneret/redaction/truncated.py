"""JSON that is cut off: what it takes to read it all the same (RFC 8259)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PART: Final = re.compile(
    r"""[ \t\r\n]*+(?:(?P<sign>[{}\[\],:]) | "(?:[^"\\]|\\.)*+(?P<close>"?)
        | (?:-?\d[\d.eE+\-]*+|true|false|null)(?=[\s,\]}])
        | (?P<rest>[^\s{}\[\],:"]*+\Z))""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE_CUT: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_CLOSING: Final = {"{": "}", "[": "]"}
_LONGEST: Final = 100_000  # characters that are read


class Completed(NamedTuple):
    """A document: its own characters end at `end`, and `closing` makes it whole."""

    end: int
    closing: str


def completed(text: str, start: int) -> Completed | None:
    """How to complete the document that begins at `start`; None if the text's end doesn't cut it.

    Names without values and halves of numbers are left behind `end`.
    """
    if len(text) - start > _LONGEST:
        return None
    stack: list[str] = []
    position = end = start
    depth = 0  # of the stack at `end`
    behind = ""  # the sign before a part: a text behind `{` or `,` in an object is a name
    while (part := _PART.match(text, position)) is not None and part["rest"] is None:
        position, sign = part.end(), part["sign"]
        if sign is None and part["close"] == "" and not _is_name(stack, behind):
            cut = _ESCAPE_CUT.search(text, max(start, position - 6))
            closing = "".join(_CLOSING[each] for each in reversed(stack))
            return Completed(cut.start() if cut else position, f'"{closing}') if stack else None
        if sign in {"}", "]"}:
            if not stack or _CLOSING[stack.pop()] != sign:
                return None
        elif sign in {"{", "["}:
            stack.append(sign)
        if sign not in {",", ":"} and not (sign is None and _is_name(stack, behind)):
            end, depth = position, len(stack)
        behind = sign or ""
    if part is None or not stack or depth != len(stack):
        return None
    return Completed(end, "".join(_CLOSING[each] for each in reversed(stack)))


def _is_name(stack: list[str], behind: str) -> bool:
    return bool(stack) and stack[-1] == "{" and behind in {"{", ","}
