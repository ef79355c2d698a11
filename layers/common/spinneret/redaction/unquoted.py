"""Values without quotes behind a name: where they end, and when they are prose or code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

_FLAT_GROUP: Final = re.compile(r"[\[({][^\[\](){}\"'\n]{0,200}+[\])}]")
_CODE_GROUP: Final = re.compile(
    r"[\[({](?:\s*|.*(?: for |\(|=>).*|[a-z_]+(?:, ?[a-z_]+)+)[\])}]"  # (), [t for t in …]
)
_LINE_START: Final = re.compile(r"(?:^|[\r\n])[ \t\-*>#|]*(?:\w{1,20} ){0,2}$")
_PHRASE_REST: Final = re.compile(  # more words of a passphrase, until the sentence goes on
    r"""(?:[ \t]+(?!(?:for|from|user|username|at|in|on|by|and|or|is|was|to|of|with|via|rejected
        |failed|expired|invalid|accepted|sent|set|login|host|but|then|because|it|please|when|while
        |if|as|has|had|does|did|not|must|after|before|than)\b)
        (?![\-\#|(<]|//|\w[\w.\-]{0,40}\s?[=:])[^\s"'<>,;\\]+){1,11}""",
    re.VERBOSE,
)
_NEXT_LINE: Final = re.compile(  # where the value stands alone in it
    r"[ \t]*(?:\r?\n[ \t]*){1,2}(?P<value>(?=[^\s\d]*\d)(?=[^\s A-Za-z]*[A-Za-z])[^\s:=]{6,}+)"
    r"[ \t]*(?=[\r\n]|$)"
)
_BLOCK: Final = re.compile(r"[ \t]*(?:[|>][+\-\d]{0,2})?[ \t]*\r?\n")
_ITEM: Final = re.compile(r"-[ \t]+\S+[ \t]*(?=[\r\n]|$)")  # may stand as deep as the name
_INDENT: Final = re.compile(r"[ \t]*")
_SCHEMA: Final = re.compile(  # the name stands for a field that is described, not for its value
    r"[ \t\-]*(?:type|description|required|default|format|min\w*|max\w*|\$ref|value[fF]rom|title"
    r"|secretKeyRef|external|file|name|from|in|properties|example)\s*:"
)
_NEAR: Final = 80  # characters in front of a name in which its line may begin
_LINE: Final = 200  # the same for YAML, whose lines may be deep

# In a query these carry credentials too (RFC 6749, section 4.1.2; Google's `key`).
_PARAMETER: Final = re.compile(
    r"[?&#;](code|key|ticket|appid|k)=([^&#;\s\"'<>`|\\)\],]++)", re.IGNORECASE
)
_OPAQUE_PARAMETER: Final = re.compile(r"(?=[^&]*\d)(?=[^&]*[A-Za-z])[A-Za-z0-9_\-%/.~+]{16,}")
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_FILE: Final = re.compile(r".*(?:/|%2[Ff]).*|.*\.[a-z]{2,5}")


def parameters(text: str) -> Iterator[Span]:
    """Query parameters whose names mean a credential nowhere else."""
    if "=" not in text:
        return
    for match in _PARAMETER.finditer(text):
        value = match[2]
        if _OPAQUE_PARAMETER.fullmatch(value) is None or _HASH.fullmatch(value) is not None:
            continue
        if match[1].lower() == "code" or _FILE.fullmatch(value) is None:
            yield Span(*match.span(2), MARK)


def parameter(text: str, start: int, kind: Kind) -> Iterator[Span]:
    """The value of a query parameter with a secret's name."""
    end = values.plain_end(text, start, values.QUERY)
    if end - start < values.LONG:
        value = text[start:end]
        if values.is_filler(value, ""):
            return
        if not kind.certain and kind is not Kind.OPAQUE and not values.is_secret(kind, value):
            return
    yield Span(start, end, MARK)


def plain(text: str, match: re.Match[str], kind: Kind, name: str) -> Iterator[Span]:
    """The value of an assignment in prose, a log line, a configuration file."""
    start, certain = match.end(), kind.certain
    if match["sign"] == ":" and (certain or kind is Kind.COUNTABLE):
        block = _block(text, match) or (_next_line(text, match) if certain else None)
        if block is not None:
            yield block
            return
    if not certain and kind is Kind.OPAQUE and not values.looks_random(text, start):
        return
    end = values.plain_end(text, start, reach=start + values.LONG)
    value = text[start:end]
    if len(value) < values.LONG:
        if not value or values.is_filler(value, name) or _is_code_group(text, start):
            return
        if not certain and not values.is_secret(kind, value):
            return
    else:
        end = values.plain_end(text, start)
    if kind is Kind.PASSWORD and match["gap"]:
        end = _phrase_end(text, match.start(), end)
    yield Span(start, end, MARK)


def _is_code_group(text: str, start: int) -> bool:
    group = _FLAT_GROUP.match(text, start)
    return group is not None and _CODE_GROUP.fullmatch(group[0]) is not None


def _phrase_end(text: str, name_start: int, end: int) -> int:
    """A passphrase that begins a line may have more words."""
    if _LINE_START.search(text, max(0, name_start - _NEAR), name_start) is None:
        return end
    rest = _PHRASE_REST.match(text, end)
    return rest.end() if rest else end


def _next_line(text: str, match: re.Match[str]) -> Span | None:
    """`Password:`, and the value in the line below."""
    value = _NEXT_LINE.match(text, match.end())
    if value is None or values.is_filler(value["value"][: values.LONG], match["name"]):
        return None
    return Span(*value.span("value"), MARK)


def _block(text: str, match: re.Match[str]) -> Span | None:
    """YAML: what stands deeper on the next lines belongs to the name."""
    opening = _BLOCK.match(text, match.end())
    if opening is None or _SCHEMA.match(text, opening.end()):
        return None
    line = max(text.rfind("\n", max(0, match.start() - _LINE), match.start()), -1) + 1
    if text[line : match.start()].strip(" \t-"):
        return None
    depth = match.start() - line
    end = opening.end()
    while end < len(text):
        indent = _INDENT.match(text, end)
        first = indent.end() if indent else end
        outside = first - end < depth or (first - end == depth and not _ITEM.match(text, first))
        if outside and first < len(text) and text[first] not in "\r\n":
            break
        line_end = text.find("\n", first)
        end = len(text) if line_end < 0 else line_end + 1
    content = text[opening.end() : end]
    start = opening.end() + len(content) - len(content.lstrip())
    return Span(start, start + len(content.strip()), MARK) if content.strip() else None
