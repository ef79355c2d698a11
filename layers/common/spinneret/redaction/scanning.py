"""One text: everything that reads it, and what they found replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from spinneret.redaction import encodings
from spinneret.redaction.assignments import assigned
from spinneret.redaction.blocks import private_keys
from spinneret.redaction.calls import called
from spinneret.redaction.commands import commanded
from spinneret.redaction.formats import formatted
from spinneret.redaction.manifests import described
from spinneret.redaction.markup import marked_up
from spinneret.redaction.phrases import spoken
from spinneret.redaction.records import paired
from spinneret.redaction.spans import MARK, Span, replace
from spinneret.redaction.tables import tabulated
from spinneret.redaction.unquoted import parameters
from spinneret.redaction.urls import userinfo

_READERS: Final = (
    formatted,
    private_keys,
    userinfo,
    parameters,
    assigned,
    paired,
    called,
    commanded,
    marked_up,
    spoken,
    tabulated,
    described,
)
_SHORTEST: Final = 6  # characters of a name with a value, `pin=12`
_QUIET: Final = re.compile(
    r"[A-Za-z0-9_.,/*+\-]{0,15}"
)  # shorter than any form, without separators
_LAYERS: Final = 2  # base64 of base64 is opened, no deeper


def scan(text: str, layer: int = 0) -> str:
    """The text with every secret replaced that its own characters betray."""
    if len(text) < _SHORTEST or _QUIET.fullmatch(text):
        return text
    spans = list(_found(text))
    view = encodings.decoded(text)
    if view is not None:
        spans += (view.origin(span) for span in _found(view.text))
    if layer < _LAYERS:
        spans += _hidden(text, layer)
    return replace(text, spans) if spans else text


def _found(text: str) -> Iterator[Span]:
    for reader in _READERS:
        yield from reader(text)


def _hidden(text: str, layer: int) -> Iterator[Span]:
    for start, end, meaning in encodings.hidden_texts(text):
        if scan(meaning, layer + 1) != meaning:
            yield Span(start, end, MARK)
