"""What functions that hold the job kernel read from their environment."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings
from spinneret.outbox.settings import OutboxSettings


@dataclass(frozen=True, kw_only=True)
class LaneSettings(Settings):
    """What the URLs of all lanes begin with; a lane's name ends it (`jobs.sqs`)."""

    lanes_url: str


@dataclass(frozen=True, kw_only=True)
class JobSettings(LaneSettings):
    """Tables, lanes, and the `@connections` endpoint of the WebSocket API."""

    jobs_table: str
    idempotency_table: str
    websocket_url: str


@dataclass(frozen=True, kw_only=True)
class EndSettings(JobSettings, OutboxSettings):
    """Of functions that end runs whose ends are reported."""
