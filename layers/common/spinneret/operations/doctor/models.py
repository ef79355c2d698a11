"""Facts about a stage, and findings."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class State(StrEnum):
    """Judgement about a part."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


@dataclass(frozen=True)
class Diagnosis:
    """Judgement about one part, and the remedy unless it is in order."""

    part: str
    state: State
    found: str
    remedy: str = ""


@dataclass(frozen=True, kw_only=True)
class StackFacts:
    """A CloudFormation stack."""

    name: str
    status: str
    drift: str
    """State of the last drift detection: `IN_SYNC`, `DRIFTED` or `NOT_CHECKED`."""
    updated_at: datetime
    resources: int
    release: str = ""
    """Version of the application; only the root stack has it."""


@dataclass(frozen=True, kw_only=True)
class QueueFacts:
    """A queue; `age` of its oldest message in seconds is None without a measurement."""

    name: str
    dead: bool
    """Whether it is a dead-letter queue."""
    waiting: int
    in_flight: int
    age: float | None = None


@dataclass(frozen=True, kw_only=True)
class RuleFacts:
    """A scheduled rule; `enabled` is None if the rule doesn't exist."""

    name: str
    enabled: bool | None


@dataclass(frozen=True, kw_only=True)
class IndexFacts:
    """The search index, and the rows that it is built from."""

    health: str
    """`green`, `yellow` or `red`."""
    aliases: tuple[str, ...]
    """Read aliases; one for each model."""
    documents: int
    chunks: int
    rows: int | None
    """Documents in the table; None if they are too many to count."""


@dataclass(frozen=True, kw_only=True)
class QuotaFacts:
    """Quotas of the account."""

    concurrency: int
    """Concurrent executions of all functions."""
    concurrency_used: int | None
    """Most of them at once in the last day; None without a measurement."""
    api_rps: float | None
    """Requests a second to all APIs; None if unlimited."""


Readiness = Mapping[str, str]
"""Dependency → `ok` or `unavailable`, as `/health/ready` reports them."""
