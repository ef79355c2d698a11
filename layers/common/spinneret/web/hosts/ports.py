"""What domain settings need from outside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from spinneret.web.hosts.models import Block, DomainSettings, Override, SettingsPage


class SiteStore(Protocol):
    """Settings by tenant and domain. Raises DependencyUnavailable.

    Override and block are written apart, so that neither write can undo the other; every write
    may be repeated.
    """

    def find(self, tenant: str, domains: Sequence[str]) -> tuple[DomainSettings, ...]:
        """Those that are stored, in no order; at most 100 domains are asked for."""
        ...

    def put(
        self, tenant: str, domain: str, override: Override, notes: str | None, now: datetime
    ) -> DomainSettings:
        """Replace override and notes; answers the settings with their block."""
        ...

    def block(self, tenant: str, domain: str, block: Block) -> DomainSettings:
        """Block, or replace the block."""
        ...

    def unblock(self, tenant: str, domain: str, now: datetime) -> DomainSettings | None:
        """Without a block, the settings as they are; None where there are none."""
        ...

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> SettingsPage:
        """Up to `limit` settings with domains behind `after`, in the order of the names.

        `blocked` asks for those with, or without, a block of their own. A page may be short, even
        empty, before the end: a filter looks at a bounded number of rows.
        """
        ...
