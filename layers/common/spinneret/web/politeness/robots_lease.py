"""Lease by which one worker reads a host's robots.txt while the others wait for it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service
from spinneret.web import limits
from spinneret.web.fetching.urls import Url
from spinneret.web.politeness.changes import ConditionalUpdate, absent_or_at_most, equal
from spinneret.web.politeness.models import Record, from_ms, to_ms
from spinneret.web.politeness.ports import HostStateStore
from spinneret.web.politeness.rules import health_key

logger = logging.getLogger(__name__)

_KEPT_SECONDS = 3600  # of a row whose reader died


@dataclass(frozen=True, kw_only=True)
class RobotsLease:
    """Permission to read the robots.txt of one host and port."""

    key: str
    token: str


@dataclass(frozen=True, kw_only=True)
class BeingRead:
    """Another worker reads the file, at most until `until`."""

    until: datetime


@service
class RobotsLeases:
    """Leases of all hosts. A reader that dies holds its lease for ROBOTS_LEASE_SECONDS."""

    ledger: HostStateStore
    clock: Clock
    new_token: Callable[[], str]

    def acquire(self, url: Url) -> RobotsLease | BeingRead:
        """Acquire the lease for the URL's host and port. Raises DependencyUnavailable."""
        lease = RobotsLease(key=health_key(url.host, url.unusual_port), token=self.new_token())
        now = to_ms(self.clock())
        change = ConditionalUpdate(
            guards=(absent_or_at_most("read_until", now),),
            to={
                "read_by": lease.token,
                "read_until": now + round(1000 * limits.ROBOTS_LEASE_SECONDS),
                "purge_at": now // 1000 + _KEPT_SECONDS,
            },
        )
        row = self.ledger.update(lease.key, Record.ROBOTS, change).row
        if row["read_by"] == lease.token:  # also if the response to the first try was lost
            return lease
        return BeingRead(until=from_ms(int(row["read_until"])))

    def release(self, lease: RobotsLease) -> None:
        """End the lease; during an outage it ends by itself."""
        change = ConditionalUpdate(
            guards=(equal("read_by", lease.token),), to={"read_by": None, "read_until": None}
        )
        try:
            self.ledger.update(lease.key, Record.ROBOTS, change)
        except DependencyUnavailable as error:
            logger.warning("robots_lease_release_failed", extra={"reason": error.message})
