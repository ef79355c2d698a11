"""Ports of targets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.monitoring import limits
from spinneret.monitoring.incidents.models import IncidentChange
from spinneret.monitoring.targets.models import (
    IdempotencyRecord,
    Target,
    TargetState,
    TargetWithState,
)

Announce = Callable[[TargetWithState], None]
"""Function that sends the checks of a target until the next tick."""


@dataclass(frozen=True)
class UrlTaken:
    """The tenant already has a target with this canonical URL."""

    target_id: str


@dataclass(frozen=True)
class KeyTaken:
    """The Idempotency-Key is already in use."""

    record: IdempotencyRecord


@dataclass(frozen=True)
class TooMany:
    """The tenant has reached its maximum number of targets."""


class TargetStore(Protocol):
    """Targets by tenant and id. All methods raise DependencyUnavailable."""

    def add(
        self,
        watched: TargetWithState,
        record: IdempotencyRecord | None,
        most: int = limits.TARGETS_PER_TENANT,
    ) -> UrlTaken | KeyTaken | TooMany | None:
        """Store a new target and its request's response; return None on success.

        The limit `most` is exact even under concurrent creations and removals.
        """

    def keep_answer(self, record: IdempotencyRecord) -> IdempotencyRecord:
        """Store the response to a request that created nothing; return the record now in effect."""

    def answer_of(self, tenant: str, scope: str, now: datetime) -> IdempotencyRecord | None:
        """Return the stored response for this key; None after IDEMPOTENCY_SECONDS."""

    def number(self, tenant: str) -> int:
        """Return the number of the tenant's targets."""

    def get(self, tenant: str, target_id: str) -> TargetWithState | None:
        """Return the target (consistent read)."""

    def called(self, call_hash: str) -> TargetWithState | None:
        """Return the heartbeat whose token has this hash; None without one."""

    def get_many(self, tenant: str, target_ids: Sequence[str]) -> list[TargetWithState]:
        """Return existing targets in the order of the ids."""

    def page(
        self, tenant: str, host: str | None, after: str | None, limit: int
    ) -> Page[TargetWithState]:
        """Return up to `limit` targets after the position `after`, of one host or of all."""

    def all(self, tenant: str, limit: int) -> list[TargetWithState]:
        """Return up to `limit` targets, oldest first; eventually consistent, in parallel reads."""

    def public(self, tenant: str, limit: int) -> list[str]:
        """Return the ids of up to `limit` public targets, oldest first."""

    def change(
        self,
        former: TargetWithState,
        target: Target,
        state: TargetState,
        incident: IncidentChange | None = None,
    ) -> bool:
        """Replace `former` by both and write `incident`; return False if it changed meanwhile.

        A changed `call_hash` replaces the token by which a heartbeat is called.
        """

    def remove(self, watched: TargetWithState) -> bool:
        """Remove the target; return False if it changed meanwhile.

        Results and ended incidents stay until they expire.
        """
