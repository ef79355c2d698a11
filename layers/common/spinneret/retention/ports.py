"""Ports of the clean-up."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from spinneret.retention.models import Expired


class ExpiryStore(Protocol):
    """Rows of objects that expire. Methods raise DependencyUnavailable."""

    def expired(self, now: datetime, limit: int) -> list[Expired]:
        """Return up to `limit` expired objects that aren't marked as deleted, the oldest first.

        A deferred object counts from the time of its next try.
        """

    def mark_deleted(self, expired: Expired, now: datetime) -> bool:
        """Record that the object is gone; return False if the row changed since it was read."""

    def defer(self, expired: Expired, until: datetime) -> bool:
        """Count a refusal and list the object again from `until` on; return False as above."""


class ObjectStore(Protocol):
    """Expiring objects. Methods raise DependencyUnavailable."""

    def delete(self, keys: Sequence[str]) -> Mapping[str, str]:
        """Delete at most 1000 objects; return the reasons of failures by key.

        A missing object counts as deleted.
        """
