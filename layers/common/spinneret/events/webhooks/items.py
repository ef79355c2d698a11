"""Keys of the webhooks table, and conversion of its values to and from DynamoDB items."""

import hashlib
from datetime import datetime, timedelta
from typing import Final

from spinneret.aws.codec import JSON, SPARSE, Codec, Column
from spinneret.aws.dynamo import Item
from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import Cooldown, Delivery, Endpoint, SealedSecrets
from spinneret.kernel.clock import epoch_seconds

_COOLDOWN_MEMORY = timedelta(days=1)


def endpoints_partition(tenant: str) -> str:
    """Return the partition of a tenant's endpoints by id."""
    return f"T#{tenant}#ENDPOINTS"


def endpoint_key(tenant: str, endpoint_id: str) -> Item:
    """Return the primary key of an endpoint."""
    return {"pk": endpoints_partition(tenant), "sk": endpoint_id}


def count_key(tenant: str) -> Item:
    """Return the primary key of the number of a tenant's endpoints."""
    return {"pk": f"T#{tenant}#ENDPOINT-COUNT", "sk": "COUNT"}


def default_key(tenant: str) -> Item:
    """Return the primary key of a tenant's default secrets."""
    return {"pk": f"T#{tenant}#DEFAULT-SECRET", "sk": "SECRET"}


def log_partition(tenant: str, endpoint_id: str | None) -> str:
    """Return the partition of the deliveries to one endpoint, or to all URLs of single jobs."""
    return f"T#{tenant}#DELIVERIES#{endpoint_id or ''}"


def delivery_key(tenant: str, endpoint_id: str | None, delivery_id: str) -> Item:
    """Return the primary key of a delivery."""
    return {"pk": log_partition(tenant, endpoint_id), "sk": delivery_id}


def cooldown_key(tenant: str, target: str) -> Item:
    """Return the primary key of a cooldown; targets are hashed, because a URL may be long or
    secret.
    """
    return {
        "pk": f"T#{tenant}#COOLDOWN#{hashlib.sha256(target.encode()).hexdigest()}",
        "sk": "COOLDOWN",
    }


def delivery_item(delivery: Delivery, now: datetime) -> Item:
    """Return a line of the log."""
    purge_at = epoch_seconds(now + timedelta(seconds=limits.WEBHOOK_LOG_SECONDS))
    return {**DELIVERIES.encode(delivery), "purge_at": purge_at}


SECRETS: Final = Codec(
    SealedSecrets,
    columns={
        "newest": Column(attribute="secret"),
        "old": Column(attribute="old_secret"),
        "old_until": Column(attribute="old_secret_until"),
    },
)
"""Attributes of an endpoint's row, or of the row of a tenant's default secrets."""

ENDPOINTS: Final = Codec(
    Endpoint,
    key=lambda endpoint: endpoint_key(endpoint.tenant, endpoint.id),
    keyed=("id", "secrets"),
    from_key=lambda item: {"id": item["sk"], "secrets": SECRETS.decode(item)},
    columns={"events": Column(encode=sorted), "without_accounts": SPARSE},
    derived=lambda endpoint: SECRETS.encode(endpoint.secrets),
)

DELIVERIES: Final = Codec(
    Delivery,
    key=lambda delivery: delivery_key(delivery.tenant, delivery.endpoint_id, delivery.id),
    keyed=("id",),
    from_key=lambda item: {"id": item["sk"]},
    columns={"payload": JSON},
)

COOLDOWNS: Final = Codec(
    Cooldown,
    derived=lambda cooldown: {"purge_at": epoch_seconds(cooldown.until + _COOLDOWN_MEMORY)},
)
"""Attributes of a cooldown's row; the TTL is a day after its end."""
