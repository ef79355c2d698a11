"""Values of status pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from spinneret.kernel import bounds
from spinneret.monitoring.rollups.models import DayTally
from spinneret.monitoring.targets.models import TargetWithState

SLUG: Final = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"


def is_slug(text: str) -> bool:
    """Whether a page can be there: a label of a host's name."""
    return len(text) <= bounds.STATUS_SLUG_MAX_CHARS and re.fullmatch(SLUG, text) is not None


@dataclass(frozen=True, kw_only=True)
class StatusPage:
    """A tenant's page; it has one at most."""

    tenant: str
    slug: str
    """Where it is; nobody else's."""
    title: str
    updated_at: datetime
    version: int = 1
    """Goes up by one with every change."""


class BadgeKind(StrEnum):
    """What a badge shows."""

    STATUS = "status"
    UPTIME = "uptime"
    """Of 30 days."""
    LATENCY = "latency"
    """The median of 30 days."""


@dataclass(frozen=True, kw_only=True)
class StatusPageRow:
    """A target on the page."""

    watched: TargetWithState
    in_maintenance: bool
    days: Sequence[DayTally]
    """The last 30 days with figures, today included, oldest first."""


@dataclass(frozen=True, kw_only=True)
class StatusPageContent:
    """All that a page shows."""

    page: StatusPage
    lines: Sequence[StatusPageRow]
    others: Sequence[StatusPageRow]
    """Targets that there is no room for, without their days."""
    is_all: bool
    """Without, there are more than STATUS_PAGE_COUNTED targets."""
    now: datetime
