"""Assignments of values to names: `key=value`, `"key": "value"`, `Header: value`.

They may be quoted at any depth or cut off, in JSON, Python, log lines, configuration files, forms
and URLs.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from spinneret.redaction import documents, headers, names, values, vocabulary
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_ASSIGNMENT: Final = re.compile(r"""(?x)
    (?<![\w.\-\[\]$@])(?P<name>[\w.\-\[\]$@]++)
    (?P<close>[\\"'`*\]\u201d\u2019)]{0,40}+) [ \t\xa0\u3000]{0,8}+
    (?P<sign>=>|:=|={1,3}+|:(?!:|\\{0,3}/\\{0,3}/)|→)
    (?P<gap>[ \t\xa0\u3000]{0,16}+(?:\*\*|</?[a-z]{1,10}>)?+[ \t]{0,4}+)
""")
_HARMLESS: Final = Kind.HARMLESS  # Python 3.11 calls a function on each access to a member
_REACH: Final = 40  # characters before a name that may belong to it
_WORDS: Final = re.compile(r"(?:[\w\-]+[ \t]+){1,3}\Z")  # separated by blanks only
_SPACE: Final = re.compile(r"\s{0,80}")
_QUOTES: Final = frozenset("\"'")
_EMPTY_GROUP: Final = re.compile(r"\[\s*\]|\{\s*\}|\(\s*\)")
_BARE: Final = re.compile(r"[^\s,;}\])\"'\\]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:[(\[]|$)")
_MORE_WORDS: Final = re.compile(r"(?:[ \t]+[a-z0-9]{1,20}){1,11}+(?=[ \t]*(?:[\r\n\"'\\]|$))")
_NEXT_LINE: Final = re.compile(  # where the value is alone on its line
    r"[ \t]*(?:\r?\n[ \t]*){1,2}(?P<value>(?=[^\s\d]*\d)(?=[^\s A-Za-z]*[A-Za-z])[^\s:=]{6,}+)"
    r"[ \t]*(?=[\r\n]|$)"
)


def assigned(text: str) -> Iterator[Span]:
    """Yield the values of all names that announce a secret."""
    if "=" not in text and ":" not in text and "→" not in text:
        return
    position = 0
    while (match := _ASSIGNMENT.search(text, position)) is not None:
        position = match.end()
        if _means_nothing(match["name"]):
            continue
        kind, name = _announced(text, match)
        for span in _behind(text, match, kind, name) if kind is not _HARMLESS else ():
            yield span
            position = max(position, span.end)


@names.bounded_cache
def _means_nothing(name: str) -> bool:
    """Return whether the name, like most, announces no secret in any context."""
    return names.kind_of(name) is _HARMLESS and not names.needs_context(name)


def _announced(text: str, match: re.Match[str]) -> tuple[Kind, str]:
    """Return the kind of a name, and the name extended by preceding words that matter."""
    name, start = match["name"], match.start()
    kind = names.kind_of(name)
    colon = match["sign"] == ":"
    if colon and not match["gap"] and text.endswith((":", "//"), max(0, start - 2), start):
        return _HARMLESS, name  # arn:aws:secretsmanager:…:secret:name, https://token:…@host
    if text.endswith(" ", 0, start):
        words = _WORDS.search(text[max(0, start - _REACH) : start])
        before = words[0].split() if words else []
        if kind is _HARMLESS:
            name = " ".join([*before, name])
            return names.kind_of(name), name  # API key: …
        if colon and before and before[-1].lower() in vocabulary.BEFORE_IN_PROSE:
            return _HARMLESS, name  # unexpected token: …
    return kind, name


def _behind(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterable[Span]:
    """Return the secret after a name, depending on its notation."""
    start = match.end()
    quotes = _quotes(match["close"])
    if quotes and (space := _SPACE.match(text, start)):
        start = space.end()
    first = text[start : start + 1]
    if not quotes and first in {"$", "{", "<", "%"} and values.TEMPLATE_START.match(text, start):
        return ()
    quotation = values.quoted_end(text, start) if first in values.OPENING_SIGNS else None
    if quotation is not None:
        return _quoted(text, *quotation[:2], kind, quoted_name=bool(quotes))
    if first in {"[", "{", "("} and (quotes or documents.OPENING.match(text, start)):
        return _group(text, start, quotes) if kind.certain else ()
    return _bare(text, start, kind, quotes) if quotes else _unquoted(text, match, kind, name)


def _quotes(close: str) -> str:
    """Return the quotation mark that closes the name, so that the mark gets the same quotes."""
    if _QUOTES.isdisjoint(close):
        return ""
    quotes = close.rstrip(" *])`")
    return quotes if quotes.strip("\\") in _QUOTES else '"'


def _quoted(text: str, start: int, end: int, kind: Kind, *, quoted_name: bool) -> Iterator[Span]:
    value = text[start:end]
    if value and values.is_secret(kind, value) and (quoted_name or not values.is_filler(value)):
        yield Span(start, end)


def _group(text: str, start: int, quotes: str) -> Iterator[Span]:
    """Yield a whole list or object after a secret's name."""
    if not text.startswith(MARK, start) and not _EMPTY_GROUP.match(text, start):
        yield Span(start, documents.end_of_group(text, start), quotes + MARK + quotes)


def _bare(text: str, start: int, kind: Kind, quotes: str) -> Iterator[Span]:
    """Yield a number or word after a quoted name, unless it is a variable of a program."""
    match = _BARE.match(text, start)
    if match is None or text.startswith(MARK, start) or _VARIABLE.match(match[0]):
        return
    if values.is_secret(kind, match[0]):
        yield Span(start, match.end(), quotes + MARK + quotes)


def _unquoted(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterable[Span]:
    """Return the secret if neither the name nor the value has quotes."""
    start = match.end()
    if kind is Kind.AUTHORIZATION:
        return headers.authorization(text, start)
    if match["sign"] == "=" and text.startswith(("?", "&", "#"), max(0, match.start() - 1)):
        return _parameter(text, start, kind)
    if kind is Kind.COOKIE and (match["sign"] == ":" or len(names.words(name)) == 1):
        return headers.cookies(text, start)
    return _plain(text, match, kind)


def _parameter(text: str, start: int, kind: Kind) -> Iterator[Span]:
    """Yield the value of a query parameter with a secret's name."""
    end = values.plain_end(text, start, values.QUERY)
    value = text[start:end]
    if not values.is_filler(value) and (kind is Kind.OPAQUE or values.is_secret(kind, value)):
        yield Span(start, end)


def _plain(text: str, match: re.Match[str], kind: Kind) -> Iterator[Span]:
    """Yield the value of an assignment in prose, a log line or a configuration file."""
    start = match.end()
    line = _NEXT_LINE.match(text, start) if kind.certain and match["sign"] == ":" else None
    if line is not None and not values.is_filler(line["value"]):
        yield Span(*line.span("value"))
        return
    if kind is Kind.OPAQUE and not values.RANDOM_START.match(text, start):
        return
    end = values.plain_end(text, start, reach=start + values.LONG)
    if end - start < values.LONG:
        value = text[start:end]
        if not value or values.is_filler(value) or not values.is_secret(kind, value):
            return
    else:
        end = values.plain_end(text, start)
    rest = _MORE_WORDS.match(text, end) if kind is Kind.PASSWORD and match["gap"] else None
    if rest is not None and vocabulary.ORDINARY.isdisjoint(rest[0].split()):
        end = rest.end()  # a passphrase extends to the end of the line
    yield Span(start, end)
