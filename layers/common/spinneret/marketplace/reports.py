"""Webhooks of marketplaces: a verified report triggers a reading of orders."""

import json
import re
from collections.abc import Mapping
from typing import Final

from spinneret.events.webhooks.signing import VerificationFailed, verify
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import AuthRequired, Conflict
from spinneret.kernel.service import service
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.service import ConnectionService
from spinneret.marketplace.publishing.seller_jobs import SellerJobService

_SHOP: Final = re.compile(r"/shops/(\d+)/")


@service
class ReportService:
    """Receives the marketplaces' webhooks, which they sign by Standard Webhooks."""

    connections: ConnectionService
    secrets: ConfiguredSecrets
    jobs: SellerJobService
    clock: Clock

    def receive(self, marketplace: str, headers: Mapping[str, str], body: str) -> None:
        """Verify a webhook and submit the reading of the seller's orders.

        A report only signals that something can be read, so a lost or reordered one does no harm; a
        repeated one submits nothing. Raises AuthRequired for a report that the marketplace didn't
        sign just now.
        """
        try:
            secret = self.secrets.client(marketplace).webhook_secret
            identifier = verify(headers, body.encode(), [secret], self.clock())
        except (Conflict, VerificationFailed) as refused:
            raise AuthRequired("the webhook isn't signed by the marketplace") from refused
        account = _account(body)
        tenant = self.connections.owner(marketplace, account) if account else None
        if tenant is not None:
            why = f"webhook {identifier}"
            self.jobs.read_orders(tenant, marketplace, why, once=identifier)


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
