"""Webhooks of marketplaces: a verified report triggers a reading of orders."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from spinneret.kernel.errors import AuthRequired, Conflict
from spinneret.marketplace.connections.models import ClientSecrets
from spinneret.marketplace.connections.service import ConnectionService, verified

_LATE_SECONDS: Final = 300.0  # Standard Webhooks: older messages may be replays
_STAMP: Final = re.compile(r"[0-9]{1,12}")  # seconds since 1970
_SHOP: Final = re.compile(r"/shops/(\d+)/")


class Services(Protocol):
    """Services that handle reports."""

    @property
    def connections(self) -> ConnectionService:
        """Service that finds the tenant of an account."""

    @property
    def secrets(self) -> Secrets:
        """Source of the secrets with which marketplaces sign."""

    @property
    def publishing(self) -> Publishing:
        """Service that submits the reading of orders."""


class Secrets(Protocol):
    """See ClientSecretProvider."""

    def client(self, marketplace: str) -> ClientSecrets:
        """Return the credentials. Raises Conflict if there are none."""


class Publishing(Protocol):
    """See PublishingService."""

    def read_orders(self, tenant: str, marketplace: str, why: str, *, once: str | None) -> str:
        """Submit the action `orders` and return the job's id."""


def received(
    services: Services,
    marketplace: str,
    headers: Mapping[str, Any],
    body: str,
    now: datetime,
) -> None:
    """Verify a webhook and submit the reading of the seller's orders.

    A report only signals that something can be read, so a lost or reordered one does no harm; a
    repeated one submits nothing. Raises AuthRequired for a report that the marketplace didn't sign
    just now.
    """
    given = {name.lower(): str(value) for name, value in headers.items()}
    stamped = given.get("webhook-timestamp", "")
    try:
        secret = services.secrets.client(marketplace).webhook_secret
    except Conflict:
        secret = ""
    in_time = _STAMP.fullmatch(stamped) and abs(now.timestamp() - int(stamped)) <= _LATE_SECONDS
    identifier, signatures = given.get("webhook-id", ""), given.get("webhook-signature", "")
    if not (
        secret and in_time and verified(secret, identifier, stamped, body.encode(), signatures)
    ):
        raise AuthRequired("the webhook isn't signed by the marketplace")
    account = _account(body)
    tenant = services.connections.owner(marketplace, account) if account else None
    if tenant is not None:
        why = f"webhook {identifier}"
        services.publishing.read_orders(tenant, marketplace, why, once=identifier or None)


def _account(body: str) -> str | None:
    """Return the shop that a report is about, or None."""
    try:
        data = json.loads(body)
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    if "shop_id" in data:
        return str(data["shop_id"])
    found = _SHOP.search(str(data.get("resource_url", "")))
    return found[1] if found else None
