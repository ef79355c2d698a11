"""Data types of preferences."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """A seller's preferences for one marketplace; they outlive the connection to it."""

    tenant: str
    marketplace: str
    paused_at: datetime | None = None
    """Time since which no listing is created or revised there; None if that isn't paused."""
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""
