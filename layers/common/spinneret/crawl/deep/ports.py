"""What deep crawls need from outside."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Slots(Protocol):
    """Places of which each tenant has a few. All methods raise DependencyUnavailable."""

    def take(self, tenant: str, holder: str, now: datetime, until: datetime, most: int) -> bool:
        """Take a place until then, or keep it for longer; False when `most` others have one."""
        ...

    def leave(self, tenant: str, holder: str) -> None:
        """Give it back; harmless without one."""
        ...
