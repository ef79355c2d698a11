"""Port of host settings."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.web.hosts.models import HostBlock, HostSettings, Override


class HostStore(Protocol):
    """Settings by tenant and host. Methods raise DependencyUnavailable.

    Override and block are separate writes, so that neither can undo the other; every write may be
    repeated.
    """

    def find(self, tenant: str, hosts: Sequence[str]) -> tuple[HostSettings, ...]:
        """Return the stored settings of up to 100 hosts, unordered."""

    def put(
        self, tenant: str, host: str, override: Override, notes: str | None, now: datetime
    ) -> HostSettings:
        """Replace override and notes; return the settings with their block."""

    def block(self, tenant: str, host: str, block: HostBlock) -> HostSettings:
        """Block the host, or replace its block; return the settings."""

    def unblock(self, tenant: str, host: str, now: datetime) -> HostSettings | None:
        """Remove the block and return the settings; return None if there are no settings."""

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> Page[HostSettings]:
        """Return up to `limit` settings with hosts after `after`, ordered by name.

        `blocked` selects settings with, or without, their own block. A page may be short, even
        empty, before the end, since a filter reads a bounded number of rows.
        """
