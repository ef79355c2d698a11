"""Caller of the request that this process serves, for records of who created what."""

from contextvars import ContextVar
from typing import Final

_CALLER: Final[ContextVar[str | None]] = ContextVar("caller", default=None)


def bind_caller(caller_id: str | None) -> None:
    """Set the caller for the rest of the request; None stands for nobody."""
    _CALLER.set(caller_id)


def current_caller() -> str | None:
    """Return the id of the caller's key or user; None outside of requests."""
    return _CALLER.get()


def nobody() -> None:
    """Return no caller: of work that no request asked for."""
