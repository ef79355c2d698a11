"""Conversion of connections and subscriptions to and from DynamoDB items."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from spinneret.jobs import keys
from spinneret.jobs.models import Connection, JobRef, Subscriber
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds, optional_stamp, parse_optional_stamp, to_iso

Item = dict[str, Any]


def connection_item(connection: Connection, now: datetime) -> Item:
    """Return the item of a connection without subscriptions."""
    item = {
        **keys.connection_key(connection.id),
        "tenant": connection.tenant,
        "key_id": connection.key_id,
        "ends_at": optional_stamp(connection.ends_at),
        "only_job": connection.only_job,
        "purge_at": _purge_at(now),
    }
    return {name: value for name, value in item.items() if value is not None}


def connection_from_item(connection_id: str, item: Mapping[str, Any]) -> Connection:
    """Convert a `connection_item` back to a connection, with its subscriptions."""
    return Connection(
        id=connection_id,
        tenant=item["tenant"],
        key_id=item.get(
            "key_id", ""
        ),  # a row of an earlier release has no key, so its connection is closed
        ends_at=parse_optional_stamp(item.get("ends_at")),
        only_job=item.get("only_job"),
        jobs=frozenset(item.get("jobs", ())),
    )


def opened_item(connection: Connection, now: datetime) -> Item:
    """Return the entry of a connection under its key."""
    return {**keys.opened_key(connection), "purge_at": _purge_at(now)}


def subscriber_item(ref: JobRef, connection: Connection, now: datetime) -> Item:
    """Return the item of a subscription to a job."""
    item = {**keys.subscriber_key(ref, connection.id), "purge_at": _purge_at(now)}
    if connection.ends_at is not None:
        item["ends_at"] = to_iso(connection.ends_at)
    return item


def subscriber_from_item(item: Mapping[str, Any]) -> Subscriber:
    """Convert a `subscriber_item` back to a subscriber."""
    return Subscriber(
        connection_id=str(item["sk"]).removeprefix(keys.SUBSCRIBER_PREFIX),
        ends_at=parse_optional_stamp(item.get("ends_at")),
    )


def _purge_at(now: datetime) -> int:
    """TTL of a connection's items, in case $disconnect is lost."""
    return epoch_seconds(now + timedelta(seconds=bounds.CONNECTION_SECONDS))
