"""Data classes of tags."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

NAME_MAX_CHARS: Final = 50


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A lower-case label of documents; its name is unique per tenant."""

    tenant: str
    id: str
    name: str
    created_at: datetime
    version: int = 1
    """Incremented by every change; each update is conditional on it."""
