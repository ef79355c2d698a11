"""What the clean-up needs from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.retention.models import Expired


class ExpiryStore(Protocol):
    """Rows of objects that end. Raises DependencyUnavailable."""

    def expired(self, now: datetime, limit: int) -> list[Expired]:
        """Up to `limit` objects that are over and not marked as deleted, the oldest first.

        One that was deferred counts from the time of its next try.
        """
        ...

    def mark_deleted(self, expired: Expired, now: datetime) -> bool:
        """Note that the object is gone; False where the row isn't as it was read."""
        ...

    def defer(self, expired: Expired, until: datetime) -> bool:
        """Count a refusal, and list the object again from `until` on; False as above."""
        ...


class ObjectStore(Protocol):
    """The objects. Raises DependencyUnavailable."""

    def delete(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Delete objects, at most 1000; answers why some were not, by key.

        One that isn't there counts as deleted.
        """
        ...
