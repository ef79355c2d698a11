"""Names with a value behind them: `key=value`, `"key": "value"`, `Header: value`.

Quoted at any depth, cut off, in JSON, YAML, Python, shells, configuration files and URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.kernel.redaction import headers, names, records, unquoted, values, vocabulary
from spinneret.kernel.redaction.names import Kind
from spinneret.kernel.redaction.spans import MARK, Span

_ASSIGNMENT: Final = re.compile(
    r"""(?<![\w.\-\[\]$@])(?P<name>[\w.\-\[\]$@]++)
        (?P<close>[\\"'`*\]\u201d\u2019)]{0,12}+) [ \t\xa0\u3000]{0,8}+
        (?P<sign>=>|:=|={1,3}+|:(?!:|\\{0,3}/\\{0,3}/)|→)
        (?P<gap>[ \t\xa0\u3000]{0,16}+(?:\*\*|</?[a-z]{1,10}>)?+[ \t]{0,4}+)""",
    re.VERBOSE,
)
_WORD_END: Final = re.compile(r"[\w\-]+$")
_REACH: Final = 40  # characters before a name that may belong to it
_SPACE: Final = re.compile(r"\s{0,80}")
_GROUP_OF_LITERALS: Final = re.compile(r"""[\[({]\s{0,80}+(?:[bru]{0,2}\\{0,15}["']|[\[({])""")
_TEMPLATE_SIGNS: Final = frozenset("${<%")
_EMPTY_GROUP: Final = re.compile(r"\[\s*\]|\{\s*\}|\(\s*\)")
_BARE: Final = re.compile(r"[^\s,;}\])\"'\\]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:[(\[]|$)")
_QUOTED: Final = frozenset("\"'")
_RECORD_FIELDS: Final = records.NAME_FIELDS | records.VALUE_FIELDS


def assigned(text: str) -> Iterator[Span]:
    """The values of all names that announce a secret."""
    if "=" not in text and ":" not in text and "→" not in text:
        return
    position = 0
    while (match := _ASSIGNMENT.search(text, position)) is not None:
        position = match.end()
        kind, name = _announced(text, match)
        if kind is not Kind.HARMLESS:
            for span in _behind(text, match, kind, name):
                yield span
                position = max(position, span.end)
        else:
            field = match["name"].strip("[]").lower()
            if field in _RECORD_FIELDS:
                quoted = not _QUOTED.isdisjoint(match["close"])
                yield from records.beside(text, field, match["sign"], match.end(), quoted=quoted)


def _announced(text: str, match: re.Match[str]) -> tuple[Kind, str]:
    """What the name says, with the words before it where they count."""
    name = match["name"]
    kind = names.kind_of(name)
    if kind is Kind.HARMLESS and not names.needs_context(name):
        return kind, name
    start = match.start()
    colon = match["sign"] == ":"
    if colon and not match["gap"] and text.endswith((":", "//"), max(0, start - 2), start):
        return Kind.HARMLESS, name  # arn:aws:secretsmanager:…:secret:name, https://token:…@host
    if not text.endswith(" ", 0, start):
        return kind, name
    words = _words_before(text, start)
    if kind is Kind.HARMLESS:
        name = " ".join([*words, name])
        return names.kind_of(name), name  # API key: …
    if colon and words and words[-1].lower() in vocabulary.BEFORE_IN_PROSE:
        return Kind.HARMLESS, name  # unexpected token: …
    return kind, name


def _words_before(text: str, start: int) -> list[str]:
    """At most three words in the same line, as far as only blanks part them."""
    words: list[str] = []
    line = text[max(0, start - _REACH) : start].rpartition("\n")[2]
    for piece in reversed(line.split()[-3:]):
        word = _WORD_END.search(piece)
        if word is None:
            break
        words.insert(0, word[0])
        if word.start():
            break
    return words


def _behind(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterator[Span]:
    """The secret behind a name, by the form it is written in."""
    start = match.end()
    quotes = _quotes(match["close"])
    if quotes:
        space = _SPACE.match(text, start)
        start = space.end() if space else start
    elif text[start : start + 1] in _TEMPLATE_SIGNS and values.is_template(text, start):
        return
    twice = '""' in match["close"] or "''" in match["close"]
    first = text[start : start + 1]
    quotation = values.quoted_end(text, start, twice) if first in values.OPENING_SIGNS else None
    if quotation is not None:
        yield from _quoted(text, quotation, kind, quoted_name=bool(quotes))
    elif _starts_group(text, start, quoted_name=bool(quotes)):
        yield from _group(text, start, kind, quotes)
    elif quotes:
        yield from _bare(text, start, kind, quotes)
    elif kind is Kind.AUTHORIZATION:
        yield from headers.authorization(text, start)
    elif match["sign"] == "=" and text[max(0, match.start() - 1) : match.start()] in {
        "?",
        "&",
        "#",
    }:
        yield from unquoted.parameter(text, start, kind)
    elif kind is Kind.COOKIE and (match["sign"] == ":" or len(names.words(name)) == 1):
        yield from headers.cookies(text, start)
    else:
        yield from unquoted.plain(text, match, kind, name)


def _quotes(close: str) -> str:
    """The quotation mark that closes the name, so that the mark can be quoted alike."""
    if _QUOTED.isdisjoint(close):
        return ""
    quotes = close.rstrip(" *])`")
    return quotes if quotes.strip("\\") in _QUOTED else '"'


def _quoted(
    text: str, quotation: tuple[int, int, int], kind: Kind, *, quoted_name: bool
) -> Iterator[Span]:
    start, end, _ = quotation
    value = text[start:end]
    if start == end or not values.is_secret(kind, value):
        return
    if quoted_name or len(value) >= values.LONG or not values.is_filler(value, ""):
        yield Span(start, end, MARK)


def _starts_group(text: str, start: int, *, quoted_name: bool) -> bool:
    if text.startswith(MARK, start) or text[start : start + 1] not in {"[", "{", "("}:
        return False
    return quoted_name or _GROUP_OF_LITERALS.match(text, start) is not None


def _group(text: str, start: int, kind: Kind, quotes: str) -> Iterator[Span]:
    """A list or object goes as a whole; `auth` may be an object that is looked into."""
    whole = kind.certain or (kind is Kind.AUTH and text[start] != "{")
    if whole and not _EMPTY_GROUP.match(text, start):
        yield Span(start, values.group_end(text, start), quotes + MARK + quotes)


def _bare(text: str, start: int, kind: Kind, quotes: str) -> Iterator[Span]:
    """A number or word behind a quoted name; a variable of a program stays."""
    match = _BARE.match(text, start)
    if match is None or text.startswith(MARK, start) or _VARIABLE.match(match[0]):
        return
    if values.is_secret(kind, match[0]):
        yield Span(start, match.end(), quotes + MARK + quotes)
