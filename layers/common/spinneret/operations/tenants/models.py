"""State of a deletion and of an export, and the answers to the operator."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Erased:
    """Result of one step through a place."""

    removed: int = 0
    """Number of the tenant's rows, objects or chunks that were deleted."""
    unknown: tuple[str, ...] = ()
    """Keys with the tenant's name whose form no table declares."""
    after: Any = None
    """Position to continue from, as JSON; None at the end of the place."""


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """State of a deletion between two steps."""

    connections: Mapping[str, str] = field(default_factory=dict)
    """Marketplace → what became of the seller's authorization."""
    number: int = 1
    """Number of the pass through all places; the last pass is one without a find."""
    place: int = 0
    """Index of the place in the pass."""
    after: Any = None
    """Position in the place, as JSON; None at its beginning."""
    found: int = 0
    """Number of rows, objects and chunks that this pass has deleted so far."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Place → number of rows, objects or chunks that were deleted, in all passes."""
    unknown: tuple[str, ...] = ()
    """Keys that this pass found and left, because no table declares their form."""


@dataclass(frozen=True, kw_only=True)
class Export:
    """State of an export between two files."""

    area: int = 0
    """Index of the area."""
    after: str | None = None
    """Position in the area."""
    files: tuple[str, ...] = ()
    """Keys of the files so far."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Area → number of lines so far."""


class CommandProgress(StrEnum):
    """Progress of a command."""

    DONE = "done"
    WORKING = "working"
    """The same command continues it."""
    WAITING = "waiting"
    """The same command continues it after a pause."""
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Answer to one call of a command."""

    progress: CommandProgress
    text: str
    """One line for people."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """Facts about the work done, as JSON."""
