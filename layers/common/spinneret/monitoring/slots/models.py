"""Value classes of slots."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class SlotLease:
    """An acquired slot: owner, fence, expiry."""

    name: str
    """`SLOT#<number>` or `HOSTSLOT#<host>`."""
    owner: str
    """Unique per acquisition."""
    fence: int
    """Incremented by every acquisition."""
    until: datetime
    """Expiry, unless the slot is renewed."""


def worker_slot(number: int) -> str:
    """Return the name of a worker slot; `number` counts from 0 to below MAX_CONCURRENCY."""
    return f"SLOT#{number}"


def host_slot(host: str) -> str:
    """Slot name of a host, for all ports."""
    return f"HOSTSLOT#{host}"
