"""Names and values that stand side by side: `{"name": …, "value": …}`, `("X-Api-Key", …)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import names, values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAME_FIELDS: Final = _words(
    """
    name key field header headername k n param parameter parameterkey parametername property
    propertyname attribute attributename variable env envname setting option optionname label id
    type fieldname argument arg
    """
)
VALUE_FIELDS: Final = _words(
    """
    value val v values content data text parametervalue input instance input_value inputvalue
    rejectedvalue rejected_value old new old_value new_value oldvalue newvalue before after
    current given got received actual stringvalue string_value secretvalue plaintext headervalue
    """
)

LOOSE_FIELDS: Final = frozenset({"content", "data", "text", "before", "after", "current"})
"""Of the above, those that hold prose as often as values: `{"name": "Cookies", "text": …}`."""

_ATTRIBUTE_NAMES: Final = frozenset({"name", "key", "id", "property", "field"})
_ATTRIBUTE_VALUES: Final = frozenset({"value", "content"})

_SPACE: Final = r"\s{0,40}+"
_QUOTE: Final = r"""[bu]?(?P<quote>\\{0,15}["'])"""
_OF_NAME: Final = "|".join(sorted(NAME_FIELDS, key=len, reverse=True))
_OF_VALUE: Final = "|".join(sorted(VALUE_FIELDS - LOOSE_FIELDS, key=len, reverse=True))
_TYPE: Final = rf"""(?:\{{{_SPACE}\\{{0,15}}["']S\\{{0,15}}["']{_SPACE}:{_SPACE})?"""  # DynamoDB's
_TYPE_END: Final = rf"(?:{_SPACE}\}})?"
_BEHIND_NAME: Final = re.compile(
    rf"""{_SPACE}{_TYPE}{_QUOTE}(?P<name>[^"'\\]{{1,100}}+)(?P=quote){_TYPE_END}
         {_SPACE},{_SPACE}(?P=quote)(?:{_OF_VALUE})(?P=quote){_SPACE}:{_SPACE}""",
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND_VALUE: Final = re.compile(
    rf"""{_SPACE}{_TYPE}{_QUOTE}(?P<secret>[^"'\\]++)(?P=quote){_TYPE_END}{_SPACE},{_SPACE}
         (?P=quote)(?:{_OF_NAME})(?P=quote){_SPACE}:{_SPACE}{_TYPE}[bu]?(?P=quote)
         (?P<name>[^"'\\]{{1,100}}+)(?P=quote)""",
    re.VERBOSE | re.IGNORECASE,
)
_BEHIND_YAML_NAME: Final = re.compile(
    r"""["']?(?P<name>[\w.\-]{2,100}+)["']?[ \t]{0,40}\r?\n[ \t]{0,80}value:[ \t]{0,8}""",
    re.VERBOSE,
)
_BEHIND_PART_NAME: Final = re.compile(  # RFC 7578, section 4.2
    r"""\\*["'](?P<name>[\w.:\-]{2,100}+)\\*["'](?:;[^\r\n]{0,200})?\r?\n
        (?:[\w\-]{1,60}:[^\r\n]{0,200}\r?\n){0,5}\r?\n(?P<secret>[^\r\n]++)""",
    re.VERBOSE,
)
_ATTRIBUTE_NAME: Final = re.compile(r"""\\*["']?(?P<name>[\w.:\-]{2,100}+)\\*["']?""")
_ATTRIBUTE_VALUE: Final = re.compile(r"""\\*["'](?P<secret>[^"'<>\\]++)\\*["']""")
_NEXT_VALUE: Final = re.compile(
    r"""[<>] | [VvCc](?<!\w.)(?i:(?<=v)alue|(?<=c)ontent)\s?=\s?(?P<value>\\*["']|[^\s<>])""",
    re.VERBOSE,
)
_NEXT_NAME: Final = re.compile(
    r"""[<>] | [NnKkIiPp](?<!\w.)(?i:(?<=n)ame|(?<=k)ey|(?<=i)d|(?<=p)roperty)\s?=\s?
        \\*["'](?P<name>[\w.:\-]{2,100}+)\\*["']""",
    re.VERBOSE,
)
_NEAR: Final = 200  # characters between two attributes of one element
_PAIR: Final = re.compile(
    rf"""[(\[]{_SPACE}{_QUOTE}(?P<name>[^"'\\]{{2,100}}+)(?P=quote)
         {_SPACE},{_SPACE}(?=[bru]{{0,2}}\\{{0,15}}["'])""",
    re.VERBOSE,
)
_CALLED: Final = re.compile(r"\w{1,40}$")
_SETTER: Final = re.compile(r"set|add|append|put|header|insert|assign|cookie", re.IGNORECASE)
_SCALAR: Final = re.compile(r"[^\s,}\])\"'<>]+")


def beside(text: str, field: str, sign: str, start: int, *, quoted: bool) -> Iterator[Span]:
    """The value of a record, one of whose fields was found; its content begins at `start`."""
    if sign == ":" and not quoted:
        if field in _ATTRIBUTE_NAMES:
            yield from _behind_name(text, start, _BEHIND_YAML_NAME)
    elif sign == ":":
        if field in NAME_FIELDS:
            yield from _behind_name(text, start, _BEHIND_NAME)
        elif field in VALUE_FIELDS:
            yield from _behind_value(text, start, _BEHIND_VALUE)
    elif field in _ATTRIBUTE_NAMES:
        yield from _behind_attribute_name(text, start)
        yield from _behind_value(text, start, _BEHIND_PART_NAME)
    elif field in _ATTRIBUTE_VALUES:
        yield from _behind_attribute_value(text, start)


def paired(text: str) -> Iterator[Span]:
    """`("X-Api-Key", "…")`, `setHeader("X-Api-Key", "…")`; not `get("password", default)`."""
    if '"' not in text and "'" not in text:
        return
    for match in _PAIR.finditer(text):
        if not names.kind_of(match["name"]).certain:
            continue
        call = _CALLED.search(text, max(0, match.start() - 40), match.start())
        if call is not None and not _SETTER.search(call[0]):
            continue
        quotation = values.quoted_end(text, match.end())
        if quotation is None or quotation[0] >= quotation[1]:
            continue
        start, end, closed = quotation
        if call is not None or (
            not names.is_plain(text[start : min(end, start + 100)])
            and text[closed : closed + 1] in {")", "]", ",", ""}
        ):
            yield Span(start, end, MARK)


def _behind_name(text: str, start: int, pattern: re.Pattern[str]) -> Iterator[Span]:
    match = pattern.match(text, start)
    if match is not None and _tells(match):
        yield from _value(text, match.end(), match.groupdict().get("quote") or '"')


def _behind_attribute_name(text: str, start: int) -> Iterator[Span]:
    """`name="token" value="…"`."""
    match = _ATTRIBUTE_NAME.match(text, start)
    if match is not None and _tells(match):
        following = _NEXT_VALUE.search(text, match.end(), match.end() + _NEAR)
        if following is not None and following["value"]:
            yield from _value(text, following.start("value"), quotes="")


def _behind_attribute_value(text: str, start: int) -> Iterator[Span]:
    """`value="…" name="token"`."""
    match = _ATTRIBUTE_VALUE.match(text, start)
    if match is not None:
        following = _NEXT_NAME.search(text, match.end(), match.end() + _NEAR)
        if following is not None and following["name"] and _tells(following):
            yield Span(*match.span("secret"), MARK)


def _behind_value(text: str, start: int, pattern: re.Pattern[str]) -> Iterator[Span]:
    match = pattern.match(text, start)
    if match is not None and _tells(match):
        yield Span(*match.span("secret"), MARK)


def _tells(match: re.Match[str]) -> bool:
    kind = names.kind_of(match["name"])
    return kind.certain or kind is Kind.AUTH


def _value(text: str, start: int, quotes: str) -> Iterator[Span]:
    quotation = values.quoted_end(text, start)
    if quotation is not None:
        yield Span(quotation[0], quotation[1], MARK)
    elif text.startswith(MARK, start):
        return
    elif text[start : start + 1] in {"[", "{"}:
        yield Span(start, values.group_end(text, start), quotes + MARK + quotes)
    elif (scalar := _SCALAR.match(text, start)) is not None and not values.is_absent(scalar[0]):
        yield Span(start, scalar.end(), quotes + MARK + quotes)
