"""What functions that write or hand on domain events need of the environment."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class OutboxSettings(Settings):
    """The table of events."""

    events_table: str
