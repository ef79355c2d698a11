"""Answers of the health routes."""

from __future__ import annotations

from pydantic import BaseModel


class DependencyHealth(BaseModel):
    """One part that the product stands on."""

    status: str
    """`ok` or `unavailable`."""
    latency_ms: float


class Health(BaseModel):
    """Liveness: the function answers, and asks nobody else."""

    status: str = "ok"
    checks: dict[str, DependencyHealth] = {}


class Readiness(BaseModel):
    """Whether every part answers."""

    status: str
    """`ready` or `not_ready`."""
    checks: dict[str, DependencyHealth]
    """By the part's name."""
