"""The port of host settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.web.hosts.models import Block, HostSettings, Override


class HostStore(Protocol):
    """Settings by tenant and host. Raises DependencyUnavailable.

    Override and block are separate writes, so that neither can undo the other; every write
    may be repeated.
    """

    def find(self, tenant: str, hosts: Sequence[str]) -> tuple[HostSettings, ...]:
        """The stored ones, in no order; at most 100 hosts are asked for."""
        ...

    def put(
        self, tenant: str, host: str, override: Override, notes: str | None, now: datetime
    ) -> HostSettings:
        """Replace override and notes; answers the settings with their block."""
        ...

    def block(self, tenant: str, host: str, block: Block) -> HostSettings:
        """Block, or replace the block."""
        ...

    def unblock(self, tenant: str, host: str, now: datetime) -> HostSettings | None:
        """Without a block, the settings as they are; None where there are none."""
        ...

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> Page[HostSettings]:
        """Up to `limit` settings with hosts behind `after`, in the order of the names.

        `blocked` asks for those with, or without, a block of their own. A page may be short, even
        empty, before the end: a filter looks at a bounded number of rows.
        """
        ...
