"""Rendering of crawled pages: whether, and when a page is ready."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

RenderMode = bool | Literal["auto"]
"""Whether pages are opened in a browser; `auto`: if they have next to no text but scripts."""


@dataclass(frozen=True, kw_only=True)
class Rendering:
    """Terms under which a page is opened in a browser."""

    only_shells: bool
    """Whether a page that has text without its scripts isn't opened."""
    wait_for: str | None
    """CSS selector of an element that must be there."""
    wait_seconds: float
    """Seconds after that."""

    def item(self) -> dict[str, Any]:
        """Return the terms as JSON."""
        return asdict(self)


def rendering_of(mode: RenderMode, wait_for: str | None, wait_seconds: float) -> Rendering | None:
    """Return the terms of a mode; None if pages aren't opened in a browser."""
    if mode is False:
        return None
    return Rendering(only_shells=mode == "auto", wait_for=wait_for, wait_seconds=wait_seconds)


def read_rendering(stored: Mapping[str, Any]) -> Rendering:
    """Parse terms from JSON."""
    return Rendering(**stored)
