"""What marketplaces report by webhook: verified, and taken for a reason to look."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from spinneret.kernel.errors import AuthRequired, Conflict
from spinneret.marketplace.connections.models import ClientSecrets
from spinneret.marketplace.connections.service import ConnectionService, verified

_LATE_SECONDS: Final = 300.0  # Standard Webhooks: what is older may be a repetition
_SHOP: Final = re.compile(r"/shops/(\d+)/")


class Services(Protocol):
    """What reports need."""

    @property
    def connections(self) -> ConnectionService:
        """Whose account it is."""
        ...

    @property
    def secrets(self) -> Secrets:
        """What the marketplace signs with."""
        ...

    @property
    def publishing(self) -> Publishing:
        """Submits the reading of orders."""
        ...


class Secrets(Protocol):
    """See ClientSecretProvider."""

    def client(self, marketplace: str) -> ClientSecrets:
        """Raises Conflict."""
        ...


class Publishing(Protocol):
    """See PublishingService."""

    def read_orders(self, tenant: str, marketplace: str, why: str) -> str:
        """Submit the action `orders`."""
        ...


def received(
    services: Services,
    marketplace: str,
    headers: Mapping[str, Any],
    body: str,
    now: datetime,
) -> None:
    """Verify a webhook and submit the reading of the seller's orders.

    A report says only that there is something to read: one that is lost, doubled or out of order
    does no harm. Raises AuthRequired for one that the marketplace didn't sign just now.
    """
    given = {name.lower(): str(value) for name, value in headers.items()}
    stamped = given.get("webhook-timestamp", "")
    try:
        secret = services.secrets.client(marketplace).webhook_secret
    except Conflict:
        secret = ""
    in_time = stamped.isdecimal() and abs(now.timestamp() - int(stamped)) <= _LATE_SECONDS
    identifier, signatures = given.get("webhook-id", ""), given.get("webhook-signature", "")
    if not (
        secret and in_time and verified(secret, identifier, stamped, body.encode(), signatures)
    ):
        raise AuthRequired("the webhook isn't signed by the marketplace")
    account = _account(body)
    tenant = services.connections.owner(marketplace, account) if account else None
    if tenant is not None:
        services.publishing.read_orders(tenant, marketplace, f"webhook {identifier}")


def _account(body: str) -> str | None:
    """The shop that a report is about."""
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
