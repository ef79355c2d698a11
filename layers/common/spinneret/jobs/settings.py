"""Environment settings of functions that use the job kernel."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings
from spinneret.outbox.settings import OutboxSettings


@dataclass(frozen=True, kw_only=True)
class LaneSettings(Settings):
    """Common prefix of all lanes' queue URLs; a lane's name is appended (`jobs.sqs`)."""

    lanes_url: str


@dataclass(frozen=True, kw_only=True)
class JobSettings(LaneSettings):
    """Tables, lanes, and the `@connections` endpoint of the WebSocket API."""

    jobs_table: str
    idempotency_table: str
    websocket_url: str


@dataclass(frozen=True, kw_only=True)
class EndSettings(JobSettings, OutboxSettings):
    """Settings of functions that end runs whose ends are reported."""
