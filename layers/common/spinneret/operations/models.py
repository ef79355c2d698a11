"""Answers of the health routes."""

from __future__ import annotations

from pydantic import BaseModel


class Health(BaseModel):
    """Liveness: the function answers."""

    status: str = "ok"


class DependencyHealth(BaseModel):
    """One part that the product stands on."""

    status: str
    """`ok` or `unavailable`."""
    latency_ms: float


class Readiness(BaseModel):
    """Whether every part answers."""

    status: str
    """`ready` or `not_ready`."""
    dependencies: dict[str, DependencyHealth]
