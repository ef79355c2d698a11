"""Numbers of a tenant's jobs, and how far its jobs are counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

from spinneret.content.caches.models import DaysOfUse
from spinneret.jobs.models import Job
from spinneret.kernel.histogram import Buckets
from spinneret.web.politeness.models import BreakerView


@dataclass(frozen=True, kw_only=True)
class DayOfJobs:
    """Ends of a tenant's jobs on one day (UTC); each job counts once, with its first end."""

    tenant: str
    day: date
    ends: Mapping[str, int] = field(default_factory=dict)
    """Numbers by counter; see `rules.COUNTERS`."""
    crawl_ms: Buckets = field(default_factory=dict)
    """Durations of successful crawls, from the first claim to the end."""


@dataclass(frozen=True, kw_only=True)
class HostUse:
    """Crawls of one host for a tenant; the pages of a deep crawl count for its first host."""

    tenant: str
    host: str
    crawls: int = 0
    failures: int = 0
    bytes: int = 0
    """Size of the fetched bodies; deep crawls add nothing."""
    timed: int = 0
    """Number of successful crawls whose duration is in `duration_ms`."""
    duration_ms: int = 0
    last_crawl_at: datetime


@dataclass(frozen=True, kw_only=True)
class CountCursor:
    """Position in a tenant's jobs up to which they are counted.

    A job's id begins with the time of its creation, but a job is stored some time later, and the
    index of jobs lags. So the position stays some time behind; the row names what is counted beyond
    it.
    """

    tenant: str
    position: str = ""
    """Id up to which each job is counted or `unfinished`."""
    unfinished: tuple[str, ...] = ()
    """Ids up to the position of jobs that hadn't ended."""
    counted: tuple[str, ...] = ()
    """Ids beyond the position of jobs that are counted."""
    version: int = 0
    """Number of writes of this row, which each write requires."""


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Numbers to store together: a cursor, and the days and hosts of the jobs counted up to it."""

    cursor: CountCursor
    days: tuple[DayOfJobs, ...] = ()
    hosts: tuple[HostUse, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Step:
    """Jobs that are counted together."""

    cursor: CountCursor
    """The cursor after them."""
    ended: tuple[Job, ...]
    complete: bool
    """Whether all jobs of the step that have ended are counted."""


@dataclass(frozen=True, kw_only=True)
class Unfinished:
    """Jobs of a tenant that haven't ended."""

    running: int = 0
    queued: int = 0
    paused: int = 0
    deep_crawls: int = 0
    """Running deep crawls."""
    complete: bool = True
    """Whether all jobs of the tenant were looked at; if not, a later request continues."""


@dataclass(frozen=True, kw_only=True)
class Overview:
    """All numbers of a tenant."""

    since: date
    """First of the days."""
    until: datetime
    """Time of the request, in the last of the days."""
    jobs: Mapping[date, DayOfJobs]
    use: DaysOfUse
    checks: Mapping[date, int]
    """Checks of targets in completed hours."""
    unfinished: Unfinished
    targets: int
    index: tuple[int, int] | None
    """Documents and chunks in the search index; None while it is unavailable."""


@dataclass(frozen=True, kw_only=True)
class HostState:
    """Numbers of a host, and its circuit breaker, which all tenants share."""

    use: HostUse
    breaker: BreakerView
