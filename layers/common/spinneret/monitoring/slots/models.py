"""Value classes of slots."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class SlotLease:
    """An acquired slot: owner, fence, expiry."""

    name: str
    """`SLOT#<number>` or `HOSTSLOT#<host>`."""
    owner: str
    """Unique per acquisition; of a check, see `check_owner`."""
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


def check_owner(tenant: str, target_id: str, token: str) -> str:
    """Owner of a slot that is held for a check, by which its target is found."""
    return f"{tenant}/{target_id}/{token}"


def target_of_owner(owner: str) -> tuple[str, str] | None:
    """Tenant and target of a `check_owner`; None for another owner."""
    parts = owner.rsplit("/", 2)
    return (parts[0], parts[1]) if len(parts) == 3 else None
