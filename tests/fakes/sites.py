"""Domain settings in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.web.hosts.models import Block, DomainSettings, Override, SettingsPage
from spinneret.web.hosts.service import SiteSettings
from tests.fakes.politeness import FakeDomainLedger, pace_at


class FakeSiteStore:
    """Implements SiteStore; can be told to be down."""

    def __init__(self) -> None:
        self.available = True
        self.finds = 0
        """How often settings were looked up."""
        self._settings: dict[tuple[str, str], DomainSettings] = {}

    def find(self, tenant: str, domains: Sequence[str]) -> tuple[DomainSettings, ...]:
        self._require()
        self.finds += 1
        found = (self._settings.get((tenant, domain)) for domain in domains)
        return tuple(each for each in found if each is not None)

    def put(
        self, tenant: str, domain: str, override: Override, notes: str | None, now: datetime
    ) -> DomainSettings:
        former = self._of(tenant, domain)
        return self._keep(replace(former, override=override, notes=notes, updated_at=now))

    def block(self, tenant: str, domain: str, block: Block) -> DomainSettings:
        former = self._of(tenant, domain)
        return self._keep(replace(former, block=block, updated_at=block.since))

    def unblock(self, tenant: str, domain: str, now: datetime) -> DomainSettings | None:
        self._require()
        former = self._settings.get((tenant, domain))
        if former is None or former.block is None:
            return former
        return self._keep(replace(former, block=None, updated_at=now))

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> SettingsPage:
        self._require()
        found = sorted(
            (
                each
                for (owner, domain), each in self._settings.items()
                if owner == tenant
                and (after is None or domain > after)
                and blocked in (None, each.block is not None)
            ),
            key=lambda each: each.domain,
        )
        shown = tuple(found[:limit])
        return SettingsPage(settings=shown, after=shown[-1].domain if len(found) > limit else None)

    def _of(self, tenant: str, domain: str) -> DomainSettings:
        self._require()
        return self._settings.get((tenant, domain)) or DomainSettings(tenant=tenant, domain=domain)

    def _keep(self, settings: DomainSettings) -> DomainSettings:
        self._settings[settings.tenant, settings.domain] = settings
        return settings

    def _require(self) -> None:
        if not self.available:
            raise DependencyUnavailable("dynamodb")


class Sites:
    """The service over its fakes, which are the attributes."""

    def __init__(self, clock: Clock) -> None:
        self.store = FakeSiteStore()
        self.ledger = FakeDomainLedger()
        self.pace = pace_at(self.ledger, clock)
        self.settings = SiteSettings(store=self.store, pace=self.pace, clock=clock)
