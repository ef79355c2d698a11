"""Values without parts, and objects of unknown classes."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from collections.abc import Callable
from typing import Any, Final

from spinneret.redaction import names
from spinneret.redaction.names import Kind
from spinneret.redaction.spans import MARK

UNREADABLE: Final = "[unreadable]"
"""Stands for what can't be looked at, and therefore isn't shown."""

LEAVES: Final = (  # a tuple, as it is asked for every value: twice as fast as a union
    *(str, bool, int, float, type(None), bytes, bytearray, memoryview, BaseException, complex),
    *(decimal.Decimal, uuid.UUID, dt.date, dt.time, dt.timedelta, dt.tzinfo, type),
)

Redactor = Callable[[str], str]


def in_bytes(data: bytes | bytearray | memoryview, redacted: Redactor) -> Any:
    """The same type with the text in it redacted: UTF-8, or UTF-16 where every other byte is 0."""
    raw = bytes(data)
    encoding, text = _decoded(raw)
    clean = redacted(text)
    if clean == text:
        return data
    return _like(
        data, clean.encode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    )


def mark_like(value: Any) -> Any:
    """The mark, as bytes where bytes stood; an empty text keeps nothing that could be told."""
    if isinstance(value, str) and not value:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return _like(value, MARK.encode())
    return MARK


def in_object(value: Any, redacted: Redactor) -> Any:
    """The object itself if its texts are clean and no attribute is a secret, else clean text."""
    try:
        spoken, shown = str(value), repr(value)
    except Exception:  # noqa: BLE001 (foreign code; what can't be read isn't shown)
        return UNREADABLE
    attributes = getattr(value, "__dict__", None)
    keeps_secret = type(attributes) is dict and any(
        names.kind_of(name).certain for name in list(attributes) if isinstance(name, str)
    )
    if not keeps_secret and redacted(shown) == shown and redacted(spoken) == spoken:
        return value
    return redacted(spoken)


def in_text(value: str, redacted: Redactor) -> str:
    """A subclass of str (an enumeration, say) stays itself as long as it is clean."""
    text = str.__str__(value)
    clean = redacted(text)
    return value if clean == text else clean


def key_name(key: Any) -> str:
    """The name that a key of a mapping stands for; of a path (`("db", "password")`) its end."""
    if type(key) is str:
        return key
    if not isinstance(key, tuple):
        return name_of(key) or ""
    parts = [part for part in map(name_of, key) if part]
    if len(parts) > 1 and names.needs_context(parts[-1]):
        return " ".join(parts[-2:])
    return parts[-1] if parts else ""


def name_of(key: Any) -> str | None:
    """A key of a mapping, or the first of a pair, as the name that it is."""
    if type(key) is str:
        return key
    if isinstance(key, enum.Enum):
        spoken = isinstance(key.value, str) and names.kind_of(key.value) is not Kind.HARMLESS
        key = key.value if spoken else key.name
    if isinstance(key, bytes):
        return key[:256].decode("latin-1")
    return key if isinstance(key, str) else None


def _like(data: Any, raw: bytes) -> Any:
    return raw if isinstance(data, memoryview) else type(data)(raw)


def _decoded(raw: bytes) -> tuple[str, str]:
    sample = raw[:64]
    zeros = sample.count(0)
    if len(sample) >= 8 and zeros * 5 >= len(sample) * 2:
        for encoding in ("utf-16-le", "utf-16-be"):
            try:
                text = raw.decode(encoding)
            except UnicodeDecodeError:
                continue
            if text[1:32].isascii():
                return encoding, text
    return "utf-8", raw.decode("utf-8", "surrogateescape")
