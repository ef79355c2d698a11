"""Conversion of keys, tickets and windows to and from DynamoDB items; the table's primary keys."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.access import limits
from spinneret.access.keys import rules
from spinneret.access.keys.models import ApiKey, Scope, SlidingWindow, StoredTicket, WindowBucket
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)

Item = dict[str, Any]

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


def key_attributes(key: ApiKey) -> Item:
    """Return the attributes of both rows of a key."""
    item = {
        "id": key.id,
        "tenant": key.tenant,
        "name": key.name,
        "secret_hash": key.secret_hash,
        "prefix": key.prefix,
        "scopes": sorted(key.scopes),
        "rate_limit_rpm": key.rate_limit_rpm,
        "created_at": to_iso(key.created_at),
        "expires_at": optional_stamp(key.expires_at),
        "revoked_at": optional_stamp(key.revoked_at),
    }
    end = key.revoked_at or key.expires_at
    if end is not None:
        item["purge_at"] = epoch_seconds(end + timedelta(seconds=limits.KEY_RETENTION_SECONDS))
    return {name: value for name, value in item.items() if value is not None}


def key_from_item(item: Mapping[str, Any]) -> ApiKey:
    """Parse the attributes of `key_attributes`."""
    return ApiKey(
        id=item["id"],
        tenant=item["tenant"],
        name=item["name"],
        secret_hash=item["secret_hash"],
        prefix=item["prefix"],
        scopes=frozenset(Scope(scope) for scope in item["scopes"]),
        rate_limit_rpm=int(item["rate_limit_rpm"]),
        created_at=parse_stamp(item["created_at"]),
        expires_at=parse_optional_stamp(item.get("expires_at")),
        revoked_at=parse_optional_stamp(item.get("revoked_at")),
    )


def revocation(now: datetime) -> Item:
    """Return the attributes that a revocation changes in both rows of a key."""
    purge_at = epoch_seconds(now + timedelta(seconds=limits.KEY_RETENTION_SECONDS))
    return {"revoked_at": to_iso(now), "purge_at": purge_at}


def ticket_item(ticket: StoredTicket) -> Item:
    """Return a ticket's row."""
    return {
        **ticket_key(ticket.secret_hash),
        "tenant": ticket.tenant,
        "key_id": ticket.key_id,
        "job_id": ticket.job_id,
        "expires_at": to_iso(ticket.expires_at),
        "purge_at": epoch_seconds(ticket.expires_at),
    }


def ticket_from_item(item: Mapping[str, Any], secret_hash: str) -> StoredTicket:
    """Parse the row of `ticket_item`."""
    return StoredTicket(
        secret_hash=secret_hash,
        tenant=item["tenant"],
        key_id=item["key_id"],
        job_id=item["job_id"],
        expires_at=parse_stamp(item["expires_at"]),
    )


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
