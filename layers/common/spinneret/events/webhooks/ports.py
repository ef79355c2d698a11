"""What webhooks need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.events.webhooks.models import (
    Delivery,
    DeliveryPage,
    Endpoint,
    EndpointPage,
    Hold,
    SealedSecrets,
)
from spinneret.jobs.models import Lease


class EndpointStore(Protocol):
    """Endpoints and default secrets. All methods raise DependencyUnavailable."""

    def add(self, endpoint: Endpoint, at_most: int) -> None:
        """Store a new endpoint; raises Conflict when the tenant has `at_most` of them."""
        ...

    def get(self, tenant: str, endpoint_id: str) -> Endpoint | None:
        """The endpoint as it stands."""
        ...

    def find(self, tenant: str, endpoint_ids: Sequence[str]) -> dict[str, Endpoint]:
        """Those that exist, by id, as they stand; at most 100 are asked for."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> EndpointPage:
        """Up to `limit` of the tenant's endpoints with ids before `after`, newest first."""
        ...

    def replace(self, former: Endpoint, endpoint: Endpoint) -> bool:
        """Write `endpoint` over `former`; False when that version isn't what stands any more."""
        ...

    def remove(self, tenant: str, endpoint_id: str) -> bool:
        """Remove an endpoint; False when there is none."""
        ...

    def default_secrets(self, tenant: str) -> SealedSecrets | None:
        """What the tenant's `webhook_url`s are signed with."""
        ...

    def replace_default(
        self, tenant: str, former: SealedSecrets | None, secrets: SealedSecrets
    ) -> bool:
        """Write `secrets` over `former`; False when that isn't what stands any more."""
        ...


class DeliveryLog(Protocol):
    """Deliveries by endpoint; None stands for the `webhook_url`s of single jobs.

    Lines are kept for WEBHOOK_LOG_SECONDS. All methods raise DependencyUnavailable.
    """

    def write(self, delivery: Delivery, lease: Lease, now: datetime) -> None:
        """Write a line over the one of the same id; raises LeaseLost unless the claim stands."""
        ...

    def get(self, tenant: str, endpoint_id: str | None, delivery_id: str) -> Delivery | None:
        """One line as it stands."""
        ...

    def page(
        self, tenant: str, endpoint_id: str | None, after: str | None, limit: int
    ) -> DeliveryPage:
        """Up to `limit` lines with ids before `after`, newest first."""
        ...


class Holds(Protocol):
    """Targets that are left alone for a while. All methods raise DependencyUnavailable.

    `target` is an endpoint's id or a URL.
    """

    def find(self, tenant: str, target: str) -> Hold | None:
        """The hold as it stands."""
        ...

    def put(self, tenant: str, target: str, hold: Hold) -> None:
        """Hold the target; of several that do so at once one wins, whichever."""
        ...

    def take_turn(self, tenant: str, target: str, seen: Hold, until: datetime) -> bool:
        """Prolong the hold that was seen, so that nobody else tries before `until`.

        False when it isn't what stands any more.
        """
        ...

    def end(self, tenant: str, target: str) -> None:
        """Hold the target no longer; harmless when it isn't held."""
        ...
