"""Documents inside a text: JSON, and values in Python's or JavaScript's notation.

They are read as far as possible, whether they are whole, cut off or only similar to JSON.
`assignments` judges names and their own values. This module uses the context: the names around
values, and the fields and items beside them.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Self

from spinneret.redaction import commands, context, names, values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span
from spinneret.redaction.walk import Walk

_SPACE: Final = r"(?:\s|\\{1,31}[nrt])"
OPENING: Final = re.compile(rf"""(?x)[\[({{]{_SPACE}{{0,80}}+
    (?:(?:[\[({{]|[A-Za-z_$][\w$]{{0,60}}+[=:]){_SPACE}{{0,80}}+){{0,4}}+[bru]{{0,2}}(?P<quote>\\{{0,31}}["'])
""")
"""Matches the start of a list or object. `{ user: '…` is JavaScript's notation."""
_TOKEN: Final = re.compile(
    rf"""(?x){_SPACE}*+(?:
        [bru]{{0,2}}(?P<quote>\\{{0,31}}["'])(?:(?P<text>[^"'\\\n]*+)(?P=quote))?+
      | (?P<number>[+-]?\d[\d.]*+(?:[eE][+-]?\d++)?+)(?![\w\-]) | (?P<word>[^\s{{}}\[\](),:="'\\]++)
      | (?P<open>[{{\[(]) | (?P<close>[}}\])]) | (?P<colon>[:=])>? | (?P<comma>,) | .)
""",
    re.DOTALL,
)
_IN_FRONT: Final = re.compile(  # matched backwards, so that the search is fast
    r"(?P<sign>\s{0,16}>?[:=]\s{0,8}[\\\"'\]]{0,33})?(?P<name>[\w.\-\[\]$@]{1,60}+)"
)
_REACH: Final = 100  # characters before a bracket that may hold its name
_TELLING: Final = re.compile(rf"""(?x)  # a name in the place of a value; a bracket behind a name
    ["'](?:(?P<known>kty|-[uU]|--user|--proxy-user|{commands.NAMES})\b
      | (?P<text>[\w\-$%][\w.\-%$:\ ]{{0,60}}+)\\*["'](?!{_SPACE}*+:))
  | (?P<bracket>[\[{{(])(?<=[:=\w>\s].)
""")
_DEPTH: Final = 100  # maximum nesting of brackets; deeper ones aren't distinguished
_SORTS: Final = 8  # maximum kinds of quotes whose documents are read; limits the time


def documented(text: str) -> Iterator[Span]:
    """Yield the secrets of all documents in the text, nested texts included."""
    last: int | None = None
    done: dict[str, int] = {}  # by quotes: a nested document uses different ones
    for opening in OPENING.finditer(text):
        last = _last_telling(text) if last is None else last
        start, quote = opening.start(), opening["quote"]
        if start <= last and start >= done.get(quote, 0) and len(done) < _SORTS:
            owner, function = _in_front(text, start)
            document = _Document(text, start + 1, function)
            done[quote] = document.end
            yield from _hidden(document.value, owner)
            for piece in document.texts:
                for begin, end, replacement in documented(piece):
                    yield Span(begin + piece.start, end + piece.start, replacement)


def end_of_group(text: str, start: int) -> int:
    """Return the end of the list or object that begins at `start`; the text's end if unclosed."""
    return _Document(text, start + 1).end


def _last_telling(text: str) -> int:
    """Return the end of the last name that affects values elsewhere in its document, or -1."""
    last = -1
    for telling in _TELLING.finditer(text):
        if telling["bracket"]:
            tells = any(map(context.may_contain_secret, _in_front(text, telling.start("bracket"))))
        else:
            tells = not telling["text"] or names.kind_of(telling["text"]) is not Kind.HARMLESS
        if tells:
            last = telling.end()
    return last


def _in_front(text: str, bracket: int) -> tuple[str, str]:
    """Return the name and the function before a bracket; missing ones are empty."""
    found = _IN_FRONT.match(text[max(0, bracket - _REACH) : bracket][::-1])
    name = found["name"][::-1] if found else ""
    if found and found["sign"]:
        return name, ""
    return "", name.rpartition(".")[2] if text[bracket] == "(" else ""


def _hidden(value: Any, owner: str) -> list[Span]:
    """Return the spans that a redaction of the value would hide."""
    spans: list[Span] = []

    def mark(leaf: Any, hidden: bool, _lead: str) -> None:
        if hidden and isinstance(leaf, _Piece):
            spans.append(
                Span(leaf.start, leaf.start + len(leaf), f"{leaf.quotes}{MARK}{leaf.quotes}")
            )

    Walk(mark, lambda key, _hidden: key).copy(value, owner)
    return spans


class _Piece(str):
    """A text or number of a document, with its position and the quotes for its mark."""

    __slots__ = ("quotes", "start")
    quotes: str
    start: int

    def __new__(cls, text: str, start: int, end: int, quotes: str = "") -> Self:
        piece = super().__new__(cls, text[start:end])
        piece.start, piece.quotes = start, quotes
        return piece


class _Document:
    """The document after a bracket: its value, its end, and texts that may be documents."""

    def __init__(self, text: str, start: int, function: str = "") -> None:
        self.end = start
        self.texts: list[_Piece] = []  # contain the other kind of quotes
        self._text = text
        self._quotes = '"'
        self._tokens = _TOKEN.finditer(text, start)
        self.value = self._group(function, 0)

    def _group(self, function: str, depth: int) -> Any:
        """Parse a list or object as far as possible. Unquoted words are names, never values."""
        bracket = self._text[self.end - 1]
        parts: list[tuple[str | None, Any]] = []
        name: str | None = None
        while (token := next(self._tokens, None)) is not None:
            self.end = token.end()
            kind = token.lastgroup
            if kind in {"text", "quote"}:
                parts.append((name, self._string(token)))
            elif kind == "comma":
                name = None
                continue
            elif kind == "colon":
                before = parts.pop()[1] if parts else ""
                name = str(before) if isinstance(before, str) else ""
                continue
            elif kind == "open" and depth < _DEPTH:
                called = parts[-1][1] if parts and token["open"] == token[0] == "(" else ""
                group = self._group(called if type(called) is str else "", depth + 1)
                parts.append((name, group))
            elif kind == "close":
                break
            elif kind == "number":
                parts.append((name, _Piece(self._text, *token.span("number"), self._quotes)))
            elif kind == "word":
                parts.append((name, token["word"]))
            else:
                continue
            name = None
        return _judged(parts, function, bracket)

    def _string(self, token: re.Match[str]) -> _Piece:
        self._quotes = token["quote"]
        start, end = token.span("text")
        if start >= 0 or not (found := values.quoted_end(self._text, token.start("quote"))):
            return _Piece(self._text, start, end)
        start, end, self.end = found
        if (line_end := self._text.find("\n", start, end)) >= 0:  # the document is cut off here
            end = self.end = line_end
        self._tokens = _TOKEN.finditer(self._text, self.end)
        piece = _Piece(self._text, start, end)
        if "\\" not in piece:
            self.texts.append(piece)
        return piece


def _judged(parts: list[tuple[str | None, Any]], function: str, bracket: str) -> Any:
    """Return fields and items; a function's arguments are added under the name of its secret."""
    fields = {
        name: None if type(value) is str else value for name, value in parts if name is not None
    }
    items = [None if type(value) is str else value for name, value in parts if name is None]
    if noun := context.taken_by(function):
        fields[noun] = [
            item
            for item in (*items, *fields.values())
            if isinstance(item, _Piece) and not names.is_plain(item) and not values.is_filler(item)
        ]
    if fields:
        return {**fields, None: items} if items else fields
    return tuple(items) if bracket == "(" else items
