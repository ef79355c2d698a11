"""Settings of functions that write or relay domain events."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings


@dataclass(frozen=True, kw_only=True)
class OutboxSettings(Settings):
    """The table of events."""

    events_table: str
