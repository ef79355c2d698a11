"""Ports of statistics. All methods raise DependencyUnavailable."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Protocol

from spinneret.jobs.models import Job
from spinneret.kernel.paging import Page
from spinneret.operations.statistics.models import CountCursor, DayOfJobs, HostUse, Numbers


class JobLog(Protocol):
    """A tenant's jobs in the order of their creation."""

    def following(self, tenant: str, after: str, limit: int) -> Sequence[str]:
        """Return the places of up to `limit` jobs after a place; eventually consistent.

        Places are the jobs' ids, except for batches of publications, which aren't counted: `jobs`
        finds none under their places.
        """

    def jobs(self, tenant: str, ids: Sequence[str]) -> Mapping[str, Job]:
        """Return the stored jobs of these ids."""


class StatisticsStore(Protocol):
    """Numbers of all tenants."""

    def cursor(self, tenant: str) -> CountCursor:
        """Return how far the tenant's jobs are counted."""

    def days(self, tenant: str, days: Sequence[date]) -> Mapping[date, DayOfJobs]:
        """Return the numbers of these days; a day without any is missing."""

    def hosts(self, tenant: str, hosts: Sequence[str]) -> Mapping[str, HostUse]:
        """Return the numbers of these hosts; a host without any is missing."""

    def write(self, numbers: Numbers) -> bool:
        """Store all or nothing; return False if another count came first.

        The cursor's version must be the stored one, and is one higher afterwards. Days and hosts
        replace stored ones: only who holds the version has read them.
        """

    def host_page(self, tenant: str, after: str | None, limit: int) -> Page[HostUse]:
        """Return hosts after a name, sorted by name."""
