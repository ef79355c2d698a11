"""Redaction of values without parts, and of objects of unknown classes."""

import datetime as dt
import decimal
import uuid
from collections.abc import Callable
from typing import Any, Final

from spinneret.redaction import names
from spinneret.redaction.spans import MARK

UNREADABLE: Final = "[unreadable]"
"""Replaces what can't be read, and therefore isn't shown."""

_LEAVES: Final = (  # a tuple: checked for every value, it is twice as fast as a union
    *(str, bool, int, float, type(None), bytes, bytearray, memoryview, BaseException, complex),
    *(decimal.Decimal, uuid.UUID, dt.date, dt.time, dt.timedelta, dt.tzinfo, type),
)
_MOST: Final = 50  # maximum number of exceptions described per chain or group

Cleaner = Callable[[str], str]


def is_leaf(value: Any) -> bool:
    """Return whether the value has no parts."""
    return isinstance(value, _LEAVES)


def redacted(value: Any, clean: Cleaner) -> Any:
    """Return the value itself if its text is clean, else its clean text in the same type."""
    if isinstance(value, str):  # a subclass (such as an enumeration) is kept if clean
        text = str.__str__(value)
        result = clean(text)
        return value if result == text else result
    if isinstance(value, bytes | bytearray | memoryview):
        return _in_bytes(value, clean)
    if isinstance(value, BaseException):
        return clean(_described(value))
    return value if is_leaf(value) else _in_object(value, clean)


def mask_like(value: Any) -> Any:
    """Return the mark, as bytes for bytes; return an empty text unchanged."""
    if isinstance(value, str) and not value:
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return _like(value, MARK.encode())
    return MARK


def _in_bytes(data: bytes | bytearray | memoryview, clean: Cleaner) -> Any:
    """Redact the text in bytes, keeping the type: UTF-8, or UTF-16 if every other byte is 0."""
    encoding, text = _decoded(bytes(data))
    result = clean(text)
    if result == text:
        return data
    return _like(
        data, result.encode(encoding, "replace" if "16" in encoding else "surrogateescape")
    )


def _decoded(raw: bytes) -> tuple[str, str]:
    sample = raw[:64]
    if len(sample) >= 8 and sample.count(0) * 5 >= len(sample) * 2:
        for encoding in ("utf-16-le", "utf-16-be"):
            text = raw.decode(encoding, "replace")
            if text[1:32].isascii():
                return encoding, text
    return "utf-8", raw.decode("utf-8", "surrogateescape")


def _like(data: Any, raw: bytes) -> Any:
    return raw if isinstance(data, memoryview) else type(data)(raw)


def _in_object(value: Any, clean: Cleaner) -> Any:
    """Return the object if its texts are clean and no attribute is a secret, else clean text."""
    try:
        spoken, shown = str(value), repr(value)
    except Exception:  # noqa: BLE001 (foreign code; unreadable values are hidden)
        return UNREADABLE
    attributes = getattr(value, "__dict__", None)
    keeps_secret = type(attributes) is dict and any(
        names.kind_of(name).certain for name in list(attributes) if isinstance(name, str)
    )
    if not keeps_secret and clean(shown) == shown and clean(spoken) == spoken:
        return value
    return clean(spoken)


def _described(error: BaseException) -> str:
    """Describe an exception, the outermost first: messages, notes, causes, group members."""
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [("", error)]
    while waiting and len(seen) < _MOST:
        relation, current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        try:
            text = str(current)
        except Exception:  # noqa: BLE001 (its type is shown all the same)
            text = UNREADABLE
        lines.append(relation + type(current).__name__ + (f": {text}" if text else ""))
        lines += [note for note in getattr(current, "__notes__", ()) if isinstance(note, str)]
        if isinstance(current, BaseExceptionGroup):
            waiting += [("of the group: ", member) for member in reversed(current.exceptions)]
        if current.__cause__ is not None:
            waiting.append(("caused by ", current.__cause__))
        elif current.__context__ is not None and not current.__suppress_context__:
            waiting.append(("while handling ", current.__context__))
    return "\n".join(lines)
