"""What webhooks need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.events.webhooks.models import Cooldown, Delivery, Endpoint, SealedSecrets
from spinneret.jobs.models import Lease
from spinneret.kernel.paging import Page


class EndpointStore(Protocol):
    """Endpoints and default secrets. All methods raise DependencyUnavailable."""

    def add(self, endpoint: Endpoint, at_most: int) -> None:
        """Store a new endpoint; raises Conflict when the tenant has `at_most` of them."""
        ...

    def get(self, tenant: str, endpoint_id: str) -> Endpoint | None:
        """The endpoint, read consistently."""
        ...

    def find(self, tenant: str, endpoint_ids: Sequence[str]) -> dict[str, Endpoint]:
        """Those of at most 100 ids that exist, by id."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Endpoint]:
        """Up to `limit` of the tenant's endpoints with ids before `after`, newest first."""
        ...

    def replace(self, former: Endpoint, endpoint: Endpoint) -> bool:
        """Write `endpoint` over `former`; False when another version is stored by now."""
        ...

    def remove(self, tenant: str, endpoint_id: str) -> bool:
        """Remove an endpoint; False when there is none."""
        ...

    def default_secrets(self, tenant: str) -> SealedSecrets | None:
        """The secrets that sign the tenant's `webhook_url` deliveries."""
        ...

    def replace_default(
        self, tenant: str, former: SealedSecrets | None, secrets: SealedSecrets
    ) -> bool:
        """Write `secrets` over `former`; False when others are stored by now."""
        ...


class DeliveryLog(Protocol):
    """Deliveries by endpoint; None stands for the `webhook_url`s of single jobs.

    Lines are kept for WEBHOOK_LOG_SECONDS. All methods raise DependencyUnavailable.
    """

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        """Write a line over the one of the same id; raises LeaseLost unless the claim stands."""
        ...

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        """One line, read consistently."""
        ...

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> Page[Delivery]:
        """Up to `limit` lines with ids before `after`, newest first."""
        ...


class Cooldowns(Protocol):
    """Targets that get no deliveries for a while. All methods raise DependencyUnavailable.

    `target` is an endpoint's id or a URL.
    """

    def find(self, tenant: str, target: str) -> Cooldown | None:
        """The target's cooldown, if there is one."""
        ...

    def put(self, tenant: str, target: str, cooldown: Cooldown) -> None:
        """Start or replace the target's cooldown; of concurrent calls the last one wins."""
        ...

    def take_permit(self, tenant: str, target: str, seen: Cooldown, until: datetime) -> bool:
        """Permit one delivery to try: extend the cooldown `seen` to `until`, for all others.

        False when the stored cooldown isn't `seen` any more.
        """
        ...

    def end(self, tenant: str, target: str) -> None:
        """End the target's cooldown; does nothing when there is none."""
        ...
