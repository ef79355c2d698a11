"""Value classes of status pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from spinneret.monitoring.notices.models import Notice
from spinneret.monitoring.rollups.models import DayTally
from spinneret.monitoring.status_page import limits
from spinneret.monitoring.targets.models import TargetWithState

SLUG: Final = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"


def is_slug(text: str) -> bool:
    """Return whether `text` is a valid slug, which has the form of a host name's label."""
    return len(text) <= limits.STATUS_SLUG_MAX_CHARS and re.fullmatch(SLUG, text) is not None


@dataclass(frozen=True, kw_only=True)
class StatusGroup:
    """Targets under one heading of a page."""

    name: str
    target_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class StatusPage:
    """A page of a tenant."""

    tenant: str
    slug: str
    """Last part of the page's path, unique across tenants."""
    title: str
    updated_at: datetime
    groups: tuple[StatusGroup, ...] = ()
    """Targets that the page shows, if they are public; empty for all public targets."""
    is_main: bool = True
    """Whether it is the page of `/v1/status-page`, whose slug may change."""
    version: int = 1
    """Incremented by every change."""

    @property
    def target_ids(self) -> list[str]:
        """Ids in the groups, each once."""
        return list(dict.fromkeys(each for group in self.groups for each in group.target_ids))


class BadgeKind(StrEnum):
    """Value that a badge shows."""

    STATUS = "status"
    UPTIME = "uptime"
    """Uptime over 30 days."""
    LATENCY = "latency"
    """Median latency over 30 days."""


@dataclass(frozen=True, kw_only=True)
class StatusPageRow:
    """A target on the page."""

    watched: TargetWithState
    in_maintenance: bool
    days: Sequence[DayTally]
    """The last days with figures, today included, oldest first."""


@dataclass(frozen=True, kw_only=True)
class StatusPageContent:
    """Content of a status page."""

    page: StatusPage
    lines: Sequence[StatusPageRow]
    others: Sequence[StatusPageRow]
    """Targets beyond the limit of lines, without their days."""
    notices: Sequence[Notice]
    """Notices that last, then the ones that ended within STATUS_PAGE_DAYS; newest first."""
    is_all: bool
    """False if there are more than STATUS_PAGE_COUNTED targets."""
    now: datetime
