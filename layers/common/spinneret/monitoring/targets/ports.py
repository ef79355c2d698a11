"""What targets need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.kernel import bounds
from spinneret.kernel.paging import Page
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Target,
    TargetState,
    TargetWithState,
)


@dataclass(frozen=True)
class UrlTaken:
    """The tenant has a target of this canonical URL already."""

    target_id: str


@dataclass(frozen=True)
class KeyTaken:
    """The Idempotency-Key was used already."""

    record: IdempotencyRecord


@dataclass(frozen=True)
class TooMany:
    """The tenant has as many targets as it may have."""


class TargetStore(Protocol):
    """Targets by tenant and id. All methods raise DependencyUnavailable."""

    def add(
        self,
        watched: TargetWithState,
        record: IdempotencyRecord | None,
        most: int = bounds.TARGETS_PER_TENANT,
    ) -> UrlTaken | KeyTaken | TooMany | None:
        """Store a new target, and what its request is answered; None when it is done.

        `most` targets of a tenant are exact, however many are made and removed at once.
        """
        ...

    def keep_answer(self, record: IdempotencyRecord) -> IdempotencyRecord:
        """Keep what a request is answered that made nothing; the record that stands."""
        ...

    def answer_of(self, tenant: str, scope: str, now: datetime) -> IdempotencyRecord | None:
        """What a request with this key was answered; None after IDEMPOTENCY_SECONDS."""
        ...

    def get(self, tenant: str, target_id: str) -> TargetWithState | None:
        """The target as it stands, consistently."""
        ...

    def get_many(self, tenant: str, target_ids: Sequence[str]) -> list[TargetWithState]:
        """Those that exist, in the order of the ids."""
        ...

    def page(
        self, tenant: str, host: str | None, after: str | None, limit: int
    ) -> Page[TargetWithState]:
        """Up to `limit` targets behind the position `after`, of one host or of all."""
        ...

    def public(self, tenant: str, limit: int) -> list[str]:
        """The ids of up to `limit` public targets, oldest first."""
        ...

    def change(self, former: TargetWithState, target: Target, state: TargetState) -> bool:
        """Write both over `former`; False when that isn't what stands any more."""
        ...

    def remove(self, watched: TargetWithState) -> bool:
        """Remove it; False when it isn't what stands any more. Results stay until their time."""
        ...
