"""Values of tags."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

NAME_MAX_CHARS: Final = 50


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A word that marks documents, in lower case; unique per tenant."""

    tenant: str
    id: str
    name: str
    created_at: datetime
    version: int = 1
    """Goes up by one with every change; the condition of the next one."""
