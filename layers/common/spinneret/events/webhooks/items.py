"""Keys of the webhooks table, and conversion of its values to and from DynamoDB items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from spinneret.events.webhooks import limits
from spinneret.events.webhooks.models import (
    Cooldown,
    Delivery,
    DeliveryStatus,
    Endpoint,
    SealedSecrets,
)
from spinneret.kernel.clock import (
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    to_iso,
)

Item = dict[str, Any]

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


def cooldown_key(tenant: str, target: str) -> Item:
    """Return the primary key of a cooldown; targets are hashed, because a URL may be long or
    secret.
    """
    return {
        "pk": f"T#{tenant}#COOLDOWN#{hashlib.sha256(target.encode()).hexdigest()}",
        "sk": "COOLDOWN",
    }


def endpoint_item(endpoint: Endpoint) -> Item:
    """Return an endpoint's row."""
    item = {
        **endpoint_key(endpoint.tenant, endpoint.id),
        "tenant": endpoint.tenant,
        "name": endpoint.name,
        "url": endpoint.url,
        "events": sorted(endpoint.events),
        "header_names": list(endpoint.header_names),
        "sealed_headers": list(endpoint.sealed_headers),
        "source_id": endpoint.source_id,
        "is_active": endpoint.is_active,
        "disabled_reason": endpoint.disabled_reason,
        "created_at": to_iso(endpoint.created_at),
        "updated_at": to_iso(endpoint.updated_at),
        "version": endpoint.version,
        **secrets_attributes(endpoint.secrets),
    }
    return _present(item)


def endpoint_from_item(item: Mapping[str, Any]) -> Endpoint:
    """Convert an `endpoint_item` back to an endpoint."""
    return Endpoint(
        tenant=item["tenant"],
        id=item["sk"],
        name=item["name"],
        url=item["url"],
        events=frozenset(item["events"]),
        secrets=secrets_from_item(item),
        header_names=tuple(item["header_names"]),
        sealed_headers=tuple(bytes(part) for part in item["sealed_headers"]),
        source_id=item.get("source_id"),
        is_active=item["is_active"],
        disabled_reason=item.get("disabled_reason"),
        created_at=parse_stamp(item["created_at"]),
        updated_at=parse_stamp(item["updated_at"]),
        version=int(item["version"]),
    )


def secrets_attributes(secrets: SealedSecrets) -> Item:
    """Return sealed secrets as attributes."""
    return _present(
        {
            "secret": secrets.newest,
            "old_secret": secrets.old,
            "old_secret_until": optional_stamp(secrets.old_until),
        }
    )


def secrets_from_item(item: Mapping[str, Any]) -> SealedSecrets:
    """Convert `secrets_attributes` back to sealed secrets."""
    old = item.get("old_secret")
    return SealedSecrets(
        newest=bytes(item["secret"]),
        old=None if old is None else bytes(old),
        old_until=parse_optional_stamp(item.get("old_secret_until")),
    )


def delivery_item(delivery: Delivery, now: datetime) -> Item:
    """Return a line of the log."""
    item = {
        "pk": log_partition(delivery.tenant, delivery.endpoint_id),
        "sk": delivery.id,
        "tenant": delivery.tenant,
        "endpoint_id": delivery.endpoint_id,
        "url": delivery.url,
        "event": delivery.event,
        "job_id": delivery.job_id,
        "job_type": delivery.job_type,
        "payload": json.dumps(delivery.payload, separators=(",", ":"), ensure_ascii=False),
        "delivery_job_id": delivery.delivery_job_id,
        "status": delivery.status.value,
        "attempts": delivery.attempts,
        "max_attempts": delivery.max_attempts,
        "last_attempt_at": optional_stamp(delivery.last_attempt_at),
        "response_status": delivery.response_status,
        "response_body": delivery.response_body,
        "error": delivery.error,
        "created_at": to_iso(delivery.created_at),
        "delivered_at": optional_stamp(delivery.delivered_at),
        "next_attempt_at": optional_stamp(delivery.next_attempt_at),
        "purge_at": epoch_seconds(now + timedelta(seconds=limits.WEBHOOK_LOG_SECONDS)),
    }
    return _present(item)


def delivery_from_item(item: Mapping[str, Any]) -> Delivery:
    """Convert a `delivery_item` back to a delivery."""
    status = item.get("response_status")
    return Delivery(
        tenant=item["tenant"],
        id=item["sk"],
        endpoint_id=item.get("endpoint_id"),
        url=item.get("url"),
        event=item["event"],
        job_id=item.get("job_id"),
        job_type=item.get("job_type"),
        payload=json.loads(item["payload"]),
        delivery_job_id=item["delivery_job_id"],
        status=DeliveryStatus(item["status"]),
        attempts=int(item["attempts"]),
        max_attempts=int(item["max_attempts"]),
        last_attempt_at=parse_optional_stamp(item.get("last_attempt_at")),
        response_status=None if status is None else int(status),
        response_body=item.get("response_body"),
        error=item.get("error"),
        created_at=parse_stamp(item["created_at"]),
        delivered_at=parse_optional_stamp(item.get("delivered_at")),
        next_attempt_at=parse_optional_stamp(item.get("next_attempt_at")),
    )


def cooldown_attributes(cooldown: Cooldown) -> Item:
    """Return a cooldown's attributes without its primary key; the TTL is a day after its end."""
    return {
        "failures": cooldown.failures,
        "until": to_iso(cooldown.until),
        "purge_at": epoch_seconds(cooldown.until + _COOLDOWN_MEMORY),
    }


def cooldown_from_item(item: Mapping[str, Any]) -> Cooldown:
    """Convert `cooldown_attributes` back to a cooldown."""
    return Cooldown(failures=int(item["failures"]), until=parse_stamp(item["until"]))


def _present(item: Item) -> Item:
    return {name: value for name, value in item.items() if value is not None}
