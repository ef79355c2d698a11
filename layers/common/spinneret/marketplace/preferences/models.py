"""Data types of preferences."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """A seller's preferences for one marketplace; they outlive the connection to it."""

    tenant: str
    marketplace: str
    paused_at: datetime | None = None
    """Time since which no listing is created or revised there; None if that isn't paused."""
    price_factor: str | None = None
    """Decimal by which the product's price is multiplied, such as `1.15`."""
    minimum_price: int | None = None
    """Lowest price in minor units."""
    price_ending: int | None = None
    """Last two digits of the price in minor units, to which it is raised."""
    quantity_buffer: int | None = None
    """Pieces of the stock that aren't offered."""
    title_suffix: str | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    """Ids of the policies, location, profile or section of all listings, by the name of the
    choice."""
    version: int = 0
    """Version, increased by one with every change; 0 means not stored yet."""
