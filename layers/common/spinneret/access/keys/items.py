"""Conversion of keys, tickets and windows to and from DynamoDB items; the table's primary keys."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.access import limits
from spinneret.access.keys import rules
from spinneret.access.keys.models import ApiKey, SlidingWindow, StoredTicket, WindowBucket
from spinneret.aws.codec import Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.kernel.clock import epoch_seconds, to_iso

_NEVER: Final = ""  # marks a key without expiry


def credential_key(secret_hash: str) -> Item:
    """Primary key of the item by which a secret is looked up."""
    return {"pk": f"KEY#{secret_hash}", "sk": "KEY"}


def ticket_key(secret_hash: str) -> Item:
    """Primary key of a ticket; its sort key differs, so that no ticket is ever found as a key."""
    return {"pk": f"KEY#{secret_hash}", "sk": "TICKET"}


def list_partition(tenant: str) -> str:
    """Partition of a tenant's keys by id."""
    return f"T#{tenant}#KEYS"


def listed_key(tenant: str, key_id: str) -> Item:
    """Primary key of a key in its tenant's list."""
    return {"pk": list_partition(tenant), "sk": key_id}


def roster_key(tenant: str) -> Item:
    """Primary key of the tenant's active keys."""
    return {"pk": f"T#{tenant}#ROSTER", "sk": "ROSTER"}


def window_key(tenant: str, key_id: str) -> Item:
    """Primary key of a key's rate window."""
    return {"pk": f"T#{tenant}#RATE#{key_id}", "sk": "SLOTS"}


def revocation(now: datetime) -> Item:
    """Return the attributes that a revocation changes in both rows of a key."""
    return {"revoked_at": to_iso(now), "purge_at": _purge_at(now)}


def _purge_at(end: datetime) -> int:
    """Return the TTL of a key that ends at `end`."""
    return epoch_seconds(end + timedelta(seconds=limits.KEY_RETENTION_SECONDS))


def _ttl(key: ApiKey) -> Item:
    end = key.revoked_at or key.expires_at
    return {} if end is None else {"purge_at": _purge_at(end)}


def roster_entry(key: ApiKey) -> str:
    """Return the key's roster value: its expiry, or `_NEVER`."""
    return _NEVER if key.expires_at is None else to_iso(key.expires_at)


def still_active(roster: Mapping[str, str], now: datetime) -> dict[str, str]:
    """Return the roster without expired keys."""
    present = to_iso(now)
    return {key_id: end for key_id, end in roster.items() if end == _NEVER or end > present}


def window_attributes(window: SlidingWindow) -> Item:
    """Return a window's row without its primary key.

    The row stays below one kilobyte, so that a write costs one unit. Past slots take 11 characters
    each: the microseconds from its last request to the current slot's first one (0 to 60 s) and its
    requests, in hexadecimal.
    """
    return {
        "slot": window.slot,
        "began": window.began,
        "count": window.count,
        "room": window.room,
        "past": "".join(f"{window.began - each.last:07x}{each.count:04x}" for each in window.past),
        "purge_at": epoch_seconds(rules.useless_at(window)),
    }


def window_from_item(item: Mapping[str, Any]) -> SlidingWindow:
    """Parse the attributes of `window_attributes`."""
    began, past = int(item["began"]), str(item["past"])
    return SlidingWindow(
        slot=int(item["slot"]),
        began=began,
        count=int(item["count"]),
        room=int(item["room"]),
        past=tuple(
            WindowBucket(
                last=began - int(past[at : at + 7], 16), count=int(past[at + 7 : at + 11], 16)
            )
            for at in range(0, len(past), 11)
        ),
    )


KEYS: Final = Codec(
    ApiKey,
    key=lambda key: listed_key(key.tenant, key.id),
    columns={"scopes": Column(encode=sorted), "permissions": Column(encode=sorted)},
    derived=_ttl,
)
"""The row in the tenant's list; the credential has the same attributes."""

TICKETS: Final = Codec(
    StoredTicket,
    key=lambda ticket: ticket_key(ticket.secret_hash),
    keyed=("secret_hash",),
    from_key=lambda item: {"secret_hash": item["pk"].removeprefix("KEY#")},
    derived=lambda ticket: {"purge_at": epoch_seconds(ticket.expires_at)},
)
