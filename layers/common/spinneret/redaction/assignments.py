"""Names with a value behind them: `key=value`, `"key": "value"`, `Header: value`.

Quoted at any depth, cut off, in JSON, YAML, Python, shells, configuration files and URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from spinneret.redaction import groups, headers, names, records, unquoted, values, vocabulary
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_ASSIGNMENT: Final = re.compile(
    r"""(?<![\w.\-\[\]$@])(?P<name>[\w.\-\[\]$@]++)
        (?P<close>[\\"'`*\]\u201d\u2019)]{0,12}+) [ \t\xa0\u3000]{0,8}+
        (?P<sign>=>|:=|={1,3}+|:(?!:|\\{0,3}/\\{0,3}/)|→)
        (?P<gap>[ \t\xa0\u3000]{0,16}+(?:\*\*|</?[a-z]{1,10}>)?+[ \t]{0,4}+)""",
    re.VERBOSE,
)
_HARMLESS: Final = Kind.HARMLESS  # Python 3.11 calls a function whenever a member is named
_WORD_END: Final = re.compile(r"[\w\-]+$")
_SEPARATORS: Final = (":", "=", ",", ";")
_REACH: Final = 40  # characters before a name that may belong to it
_SPACE: Final = re.compile(r"\s{0,80}")
_GROUP_OF_LITERALS: Final = re.compile(  # `{ user: '…` is how JavaScript shows an object
    r"""[\[({]\s{0,80}+(?:[bru]{0,2}\\{0,15}["'] | [\[({]
        | [A-Za-z_$][\w$]{0,60}+:[ ]?\\{0,15}["'{\[])""",
    re.VERBOSE,
)
_TEMPLATE_SIGNS: Final = frozenset("${<%")
_OPENING_BRACKETS: Final = frozenset("[{(")
_QUERY_SIGNS: Final = ("?", "&", "#")
_EMPTY_GROUP: Final = re.compile(r"\[\s*\]|\{\s*\}|\(\s*\)")
_BARE: Final = re.compile(r"[^\s,;}\])\"'\\]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*(?:[(\[]|$)")
_QUOTED: Final = frozenset("\"'")
_RECORD_FIELDS: Final = records.NAME_FIELDS | records.VALUE_FIELDS


def assigned(text: str) -> Iterator[Span]:
    """The values of all names that announce a secret."""
    if "=" not in text and ":" not in text and "→" not in text:
        return
    position = walked = 0
    while (match := _ASSIGNMENT.search(text, position)) is not None:
        position = match.end()
        if _means_nothing(match["name"]):
            continue
        kind, name = _announced(text, match)
        if kind is not _HARMLESS and (group := _open_group(text, match, kind)) is not None:
            if group >= walked:  # those inside of another are read with it
                walked = yield from groups.leaves(text, group, kind)
        elif kind is not _HARMLESS:
            for span in _behind(text, match, kind, name):
                yield span
                position = max(position, span.end)
        elif (field := _field(match["name"])) in _RECORD_FIELDS:
            quoted = not _QUOTED.isdisjoint(match["close"])
            yield from records.beside(text, field, match["sign"], match.end(), quoted=quoted)


@names.remembered
def _means_nothing(name: str) -> bool:
    """Whether the name, like most, announces nothing in any company."""
    return (
        names.kind_of(name) is _HARMLESS
        and not names.needs_context(name)
        and _field(name) not in _RECORD_FIELDS
    )


def _field(name: str) -> str:
    return name.strip("[]").lower()


def _announced(text: str, match: re.Match[str]) -> tuple[Kind, str]:
    """What the name says, with the words before it where they count."""
    name = match["name"]
    kind = names.kind_of(name)
    if kind is _HARMLESS and not names.needs_context(name):
        return kind, name
    start = match.start()
    colon = match["sign"] == ":"
    if colon and not match["gap"] and text.endswith((":", "//"), max(0, start - 2), start):
        return _HARMLESS, name  # arn:aws:secretsmanager:…:secret:name, https://token:…@host
    if not text.endswith(" ", 0, start):
        return kind, name
    if kind is _HARMLESS:
        name = " ".join([*_words_before(text, start, 3), name])
        return names.kind_of(name), name  # API key: …
    before = _words_before(text, start, 1) if colon else None
    if before and before[0].lower() in vocabulary.BEFORE_IN_PROSE:
        return _HARMLESS, name  # unexpected token: …
    return kind, name


def _words_before(text: str, start: int, most: int) -> list[str]:
    """At most so many words in the same line, as far as only blanks part them."""
    words: list[str] = []
    line = text[max(0, start - _REACH) : start].rpartition("\n")[2].rstrip()
    if line.endswith(_SEPARATORS):
        return words
    for piece in reversed(line.rsplit(maxsplit=most)[-most:]):
        word = _WORD_END.search(piece)
        if word is None:
            break
        words.insert(0, word[0])
        if word.start():
            break
    return words


def _behind(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterable[Span]:
    """The secret behind a name, by the form it is written in."""
    start = match.end()
    quotes = _quotes(match["close"])
    if quotes:
        space = _SPACE.match(text, start)
        start = space.end() if space else start
    first = text[start : start + 1]
    if not quotes and first in _TEMPLATE_SIGNS and values.is_template(text, start):
        return ()
    if first in values.OPENING_SIGNS:
        twice = '""' in match["close"] or "''" in match["close"]
        quotation = values.quoted_end(text, start, twice)
        if quotation is not None:
            return _quoted(text, quotation, kind, quoted_name=bool(quotes))
    elif first in _OPENING_BRACKETS and _starts_group(text, start, quoted_name=bool(quotes)):
        return _group(text, start, quotes)
    return _bare(text, start, kind, quotes) if quotes else _unquoted(text, match, kind, name)


def _unquoted(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterable[Span]:
    """The same where neither the name nor the value has quotes."""
    start = match.end()
    if kind is Kind.AUTHORIZATION:
        return headers.authorization(text, start)
    if match["sign"] == "=" and text.startswith(_QUERY_SIGNS, max(0, match.start() - 1)):
        return unquoted.parameter(text, start, kind)
    if kind is Kind.COOKIE and (match["sign"] == ":" or len(names.words(name)) == 1):
        return headers.cookies(text, start)
    return unquoted.plain(text, match, kind, name)


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
    if text.startswith(MARK, start):
        return False
    return quoted_name or _GROUP_OF_LITERALS.match(text, start) is not None


def _open_group(text: str, match: re.Match[str], kind: Kind) -> int | None:
    """Where a list or object begins that the name leaves open, so that its parts are judged."""
    if kind.certain:
        return None
    start = match.end()
    quoted_name = not _QUOTED.isdisjoint(match["close"])
    if quoted_name:
        space = _SPACE.match(text, start)
        start = space.end() if space else start
    first = text[start : start + 1]
    if first not in _OPENING_BRACKETS or (kind is Kind.AUTH and first != "{"):
        return None
    return start if _starts_group(text, start, quoted_name=quoted_name) else None


def _group(text: str, start: int, quotes: str) -> Iterator[Span]:
    """A list or object behind a secret's name goes as a whole."""
    if not _EMPTY_GROUP.match(text, start):
        yield Span(start, values.group_end(text, start), quotes + MARK + quotes)


def _bare(text: str, start: int, kind: Kind, quotes: str) -> Iterator[Span]:
    """A number or word behind a quoted name; a variable of a program stays."""
    match = _BARE.match(text, start)
    if match is None or text.startswith(MARK, start) or _VARIABLE.match(match[0]):
        return
    if values.is_secret(kind, match[0]):
        yield Span(start, match.end(), quotes + MARK + quotes)
