"""Responses of the health routes."""

from pydantic import BaseModel


class DependencyHealth(BaseModel):
    """One dependency of the product."""

    status: str
    """`ok` or `unavailable`; `absent` for a part that the stage does without, such as a browser."""
    latency_ms: float
    """Duration of the check in milliseconds."""


class Health(BaseModel):
    """Liveness of the function, without checks of its dependencies."""

    status: str = "ok"
    """`ok`; otherwise the route returns an error."""
    checks: dict[str, DependencyHealth] = {}
    """State of each dependency, by its name; empty without a deep check."""


class Readiness(BaseModel):
    """Readiness of all dependencies."""

    status: str
    """`ok` or `not_ready`."""
    checks: dict[str, DependencyHealth]
    """Results by the dependency's name."""
