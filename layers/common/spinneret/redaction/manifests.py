"""Documents that say elsewhere what they hold: Kubernetes' Secrets, defaults of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import groups, names, values
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK, Span

SECRET_FIELDS: Final = ("data", "stringData")
"""Fields of an object of the kind Secret that hold nothing else (Kubernetes API, v1)."""

_BORDER: Final = re.compile(r"(?:^|\n)---[ \t]*\r?(?=\n)|\Z")
_YAML_KIND: Final = re.compile(r"(?:^|\n)[ \t]{0,40}kind:[ \t]*[\"']?Secret[\"']?[ \t]*\r?(?=\n|$)")
_YAML_FIELD: Final = re.compile(r"\n(?P<indent>[ \t]{0,40})(?:data|stringData):[ \t]*\r?(?=\n)")
_YAML_LINE: Final = re.compile(
    r"\n(?P<indent>[ \t]*)(?:(?P<name>[\"']?[\w.\-/]{1,253}+[\"']?:(?=\s|$))[ \t]*)?"
    r"[\"']?(?P<value>[^\n\"']*)[^\n]*"
)
_BLOCK: Final = re.compile(r"[|>][+\-\d]{0,2}\s*")
_JSON_KIND: Final = re.compile(
    r"kind(?P<close>\\{0,15}[\"'])\s{0,8}:\s{0,8}(?P=close)Secret(?P=close)"
)
_JSON_FIELD: Final = re.compile(r"[\"'](?:data|stringData)\\{0,15}[\"']\s{0,8}:\s{0,8}(?=\{)")
_NEAR: Final = 4_000  # characters between the kind and a field of one object in JSON

_PARAMETER: Final = re.compile(
    r"variable[ \t]{1,4}\"(?P<variable>[\w.\-]{1,100}+)\"[ \t]{0,4}\{"  # HCL
    r"|(?:^|\n)(?P<depth>[ \t]{0,40})(?P<name>[\w.\-]{1,100}+):[ \t]*\r?(?=\n)"  # YAML
    r"|(?:(?<=\n)(?P<indent>[ \t]{1,40})|(?<=[{,;])[ \t]{0,8})[Dd]efault[ \t]{0,20}[=:][ \t]{0,20}"
)
_FAR: Final = 600  # characters between a parameter's name and its default


def described(text: str) -> Iterator[Span]:
    """All of this module."""
    if "Secret" in text and "kind" in text:
        if "kind:" in text:
            yield from _yaml_secrets(text)
        yield from _json_secrets(text)
    if "efault" in text:
        yield from _defaults(text)


def _yaml_secrets(text: str) -> Iterator[Span]:
    """The values below `data:` in a document with `kind: Secret`."""
    start = 0
    for border in _BORDER.finditer(text):
        end = border.start()
        if _YAML_KIND.search(text, start, end):
            for field in _YAML_FIELD.finditer(text, max(0, start - 1), end):
                yield from _deeper_lines(text, field.end(), end, len(field["indent"]))
        start = end


def _deeper_lines(text: str, start: int, end: int, depth: int) -> Iterator[Span]:
    while (line := _YAML_LINE.match(text, start, end)) is not None:
        value = line["value"].rstrip()
        if (value or line["name"]) and len(line["indent"]) <= depth:
            return
        if value and not (line["name"] and _BLOCK.fullmatch(value)):
            yield Span(line.start("value"), line.start("value") + len(value), MARK)
        start = line.end()


def _json_secrets(text: str) -> Iterator[Span]:
    """The same in JSON, where the kind may stand before or behind the field; also cut off."""
    done = 0
    for kind in _JSON_KIND.finditer(text):
        for field in _JSON_FIELD.finditer(
            text, max(done, kind.start() - _NEAR), kind.end() + _NEAR
        ):
            if field.end() >= done:
                done = yield from groups.leaves(text, field.end(), Kind.SECRET)


def _defaults(text: str) -> Iterator[Span]:
    """`variable "db_password" { default = "…" }`, and parameters of templates in YAML."""
    name, depth, near = "", -1, 0
    for match in _PARAMETER.finditer(text):
        if match["variable"] or match["name"]:
            name = match["variable"] or match["name"]
            depth = len(match["depth"] or "") if match["name"] else -1
            near = match.end() + _FAR
        elif match.start() > near or not names.kind_of(name).certain:
            continue
        elif len(match["indent"] or "") > depth:
            yield from _default(text, match.end(), name)


def _default(text: str, start: int, name: str) -> Iterator[Span]:
    quotation = values.quoted_end(text, start)
    if quotation is None:
        end = values.plain_end(text, start)
        value = text[start : min(end, start + values.LONG)]
        if value and not values.is_filler(value, name) and not values.is_template(text, start):
            yield Span(start, end, MARK)
    elif quotation[0] < quotation[1]:
        yield Span(quotation[0], quotation[1], MARK)
