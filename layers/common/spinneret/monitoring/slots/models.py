"""Values of slots."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class SlotLease:
    """A slot that somebody has."""

    name: str
    """`SLOT#<number>` or `HOSTSLOT#<host>`."""
    owner: str
    """Unique to this taking of it."""
    fence: int
    """Goes up by one with every taking."""
    until: datetime
    """When it is lost, unless it is renewed."""


def worker_slot(number: int) -> str:
    """One of MAX_CONCURRENCY, counted from 0."""
    return f"SLOT#{number}"


def host_slot(host: str) -> str:
    """The one of a host, at whatever port."""
    return f"HOSTSLOT#{host}"
