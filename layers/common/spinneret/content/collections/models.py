"""Data classes of collections."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

NAME_MAX_CHARS: Final = 100
DESCRIPTION_MAX_CHARS: Final = 1000


@dataclass(frozen=True, kw_only=True)
class Collection:
    """A named set of a tenant's documents; names are unique per tenant."""

    tenant: str
    id: str
    name: str
    description: str | None
    created_at: datetime
    updated_at: datetime
    version: int = 1
    """Incremented by every change; each update is conditional on it."""
