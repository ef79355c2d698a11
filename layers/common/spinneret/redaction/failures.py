"""An exception as text: its own words, its notes, what caused it and what it happened in."""

from __future__ import annotations

from typing import Final

_MOST: Final = 50  # exceptions of one chain or group that are told

_CAUSE: Final = "caused by "
_CONTEXT: Final = "while handling "


def described(error: BaseException) -> str:
    """One line or more per exception, the outermost first; an unreadable one shows its class."""
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [("", error)]
    while waiting and len(seen) < _MOST:
        relation, current = waiting.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        lines.append(relation + _line(current))
        lines += [str(note) for note in getattr(current, "__notes__", ()) if isinstance(note, str)]
        if isinstance(current, BaseExceptionGroup):
            waiting += [("of the group: ", member) for member in reversed(current.exceptions)]
        if current.__cause__ is not None:
            waiting.append((_CAUSE, current.__cause__))
        elif current.__context__ is not None and not current.__suppress_context__:
            waiting.append((_CONTEXT, current.__context__))
    return "\n".join(lines)


def _line(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (an exception that can't tell itself is named all the same)
        text = "[unreadable]"
    return f"{name}: {text}" if text else name
