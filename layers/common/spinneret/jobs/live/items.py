"""Conversion of connections and subscriptions to and from DynamoDB items."""

from datetime import datetime
from typing import Final

from spinneret.aws.codec import Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.jobs import keys
from spinneret.jobs.models import Connection, JobRef, Subscriber
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds

CONNECTIONS: Final = Codec(
    Connection,
    key=lambda connection: keys.connection_key(connection.id),
    keyed=("id",),
    from_key=lambda item: {"id": item["pk"].partition("#")[2]},
    columns={"jobs": Column(encode=set, sparse=True)},
    # A row of an earlier release has no key, so its connection is closed.
    upgrade=lambda item: {"key_id": "", **item},
)

SUBSCRIBERS: Final = Codec(
    Subscriber,
    key=lambda subscriber: {"sk": f"{keys.SUBSCRIBER_PREFIX}{subscriber.connection_id}"},
    keyed=("connection_id",),
    from_key=lambda item: {"connection_id": item["sk"].removeprefix(keys.SUBSCRIBER_PREFIX)},
)


def connection_item(connection: Connection, now: datetime) -> Item:
    """Return the item of a connection."""
    return {**CONNECTIONS.encode(connection), "purge_at": _purge_at(now)}


def opened_item(connection: Connection, now: datetime) -> Item:
    """Return the entry of a connection under its key."""
    return {**keys.opened_key(connection), "purge_at": _purge_at(now)}


def subscriber_item(ref: JobRef, connection: Connection, now: datetime) -> Item:
    """Return the item of a subscription to a job."""
    subscriber = Subscriber(connection_id=connection.id, ends_at=connection.ends_at)
    pk = keys.job_partition(ref)
    return {"pk": pk, **SUBSCRIBERS.encode(subscriber), "purge_at": _purge_at(now)}


def _purge_at(now: datetime) -> int:
    """TTL of a connection's items, in case $disconnect is lost."""
    return epoch_seconds(now) + bounds.CONNECTION_SECONDS
