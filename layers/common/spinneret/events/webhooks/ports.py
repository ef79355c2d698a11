"""Ports of webhooks."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.events.webhooks.models import Cooldown, Delivery, Endpoint, SealedSecrets
from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page


class EndpointStore(Protocol):
    """Endpoints and default secrets. All methods raise DependencyUnavailable."""

    def add(self, endpoint: Endpoint, at_most: int) -> None:
        """Store a new endpoint. Raises Conflict if the tenant has `at_most` endpoints."""

    def get(self, tenant: str, endpoint_id: str) -> Endpoint | None:
        """Return the endpoint (consistent read), or None."""

    def find(self, tenant: str, endpoint_ids: Sequence[str]) -> dict[str, Endpoint]:
        """Return the existing endpoints of at most 100 ids, by id."""

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Endpoint]:
        """Return up to `limit` of the tenant's endpoints with ids before `after`, newest first."""

    def replace(self, former: Endpoint, endpoint: Endpoint) -> bool:
        """Replace `former` by `endpoint`; return False if it changed meanwhile."""

    def remove(self, tenant: str, endpoint_id: str) -> bool:
        """Remove an endpoint; return False if there is none."""

    def default_secrets(self, tenant: str) -> SealedSecrets | None:
        """Return the secrets that sign the tenant's `webhook_url` deliveries, or None."""

    def replace_default(
        self, tenant: str, former: SealedSecrets | None, secrets: SealedSecrets
    ) -> bool:
        """Replace `former` by `secrets`; return False if they changed meanwhile."""


class DeliveryLog(Protocol):
    """Deliveries by endpoint; the id None means the `webhook_url`s of single jobs.

    Lines are kept for WEBHOOK_LOG_SECONDS. All methods raise DependencyUnavailable.
    """

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        """Write a line over any with the same id. Raises LeaseLost if the claim has ended."""

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        """Return one line (consistent read), or None."""

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> Page[Delivery]:
        """Return up to `limit` lines with ids before `after`, newest first."""


class Cooldowns(Protocol):
    """Targets that get no deliveries for a while. All methods raise DependencyUnavailable.

    `target` is an endpoint's id or a URL.
    """

    def find(self, tenant: str, target: str) -> Cooldown | None:
        """Return the target's cooldown, or None."""

    def put(self, tenant: str, target: str, cooldown: Cooldown) -> None:
        """Start or replace the target's cooldown; the last of concurrent calls wins."""

    def take_permit(self, tenant: str, target: str, seen: Cooldown, until: datetime) -> bool:
        """Permit one delivery to try: extend the cooldown `seen` to `until`, for all others.

        Returns False if the stored cooldown has changed since `seen`.
        """

    def end(self, tenant: str, target: str) -> None:
        """End the target's cooldown; no-op if there is none."""
