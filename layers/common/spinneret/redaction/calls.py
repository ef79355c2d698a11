"""Arguments of functions whose names say that they take a secret: `set_password("…")`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.spans import MARK, Span

_CALL: Final = re.compile(r"(?<![\w])(?P<name>[A-Za-z_]\w{3,60}+)\((?=[^()\n]{0,200}?[\"'])")
_ARGUMENT: Final = re.compile(
    r"\s{0,20}(?:\w{1,40}[ ]?=[ ]?)?(?P<quote>[bru]{0,2}\\{0,15}[\"'])|[^,()\"']*"
)
_TAKING: Final = frozenset(
    {"set", "with", "update", "change", "use", "put", "check", "verify", "validate"}
    | {"hash", "encrypt", "compare", "decode", "parse", "revoke", "authenticate", "secret"}
)
"""First words of names that take the secret itself; `get` and its like take what it is called."""


def called(text: str) -> Iterator[Span]:
    """All quoted arguments that aren't names themselves."""
    if "(" not in text:
        return
    for match in _CALL.finditer(text):
        if _takes_secret(match["name"]):
            yield from _arguments(text, match.end())


@names.remembered
def _takes_secret(name: str) -> bool:
    """Whether the name is of the form verb and secret."""
    parts = names.words(name)
    return len(parts) > 1 and parts[0] in _TAKING and names.kind_of(" ".join(parts[1:])).certain


def _arguments(text: str, start: int) -> Iterator[Span]:
    while (argument := _ARGUMENT.match(text, start)) is not None:
        start = argument.end()
        if argument["quote"]:
            quotation = values.quoted_end(text, argument.start("quote"))
            if quotation is None:
                return
            begin, end, start = quotation
            value = text[begin : min(end, begin + values.LONG)]
            if value and not names.is_plain(value) and not values.is_filler(value, ""):
                yield Span(begin, end, MARK)
        if not text.startswith(",", start):
            return
        start += 1
