"""Host settings in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.paging import Page
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.hosts.models import HostBlock, HostSettings, Override
from spinneret.web.hosts.service import HostService
from tests.fakes.dependency import FakeDependency
from tests.fakes.politeness import FakeHostStateStore, pace_at

PUBLIC_ONLY: Final = AddressPolicy()


class FakeHostStore(FakeDependency):
    """Implements HostStore."""

    def __init__(self) -> None:
        self.finds = 0
        """Number of lookups of settings."""
        self._settings: dict[tuple[str, str], HostSettings] = {}

    def find(self, tenant: str, hosts: Sequence[str]) -> tuple[HostSettings, ...]:
        self._require()
        self.finds += 1
        found = (self._settings.get((tenant, host)) for host in hosts)
        return tuple(each for each in found if each is not None)

    def put(
        self, tenant: str, host: str, override: Override, notes: str | None, now: datetime
    ) -> HostSettings:
        former = self._of(tenant, host)
        return self._keep(replace(former, override=override, notes=notes, updated_at=now))

    def block(self, tenant: str, host: str, block: HostBlock) -> HostSettings:
        former = self._of(tenant, host)
        return self._keep(replace(former, block=block, updated_at=block.since))

    def unblock(self, tenant: str, host: str, now: datetime) -> HostSettings | None:
        self._require()
        former = self._settings.get((tenant, host))
        if former is None or former.block is None:
            return former
        return self._keep(replace(former, block=None, updated_at=now))

    def page(
        self, tenant: str, blocked: bool | None, after: str | None, limit: int
    ) -> Page[HostSettings]:
        self._require()
        found = sorted(
            (
                each
                for (owner, host), each in self._settings.items()
                if owner == tenant
                and (after is None or host > after)
                and blocked in (None, each.block is not None)
            ),
            key=lambda each: each.host,
        )
        return Page.cut(found, limit, lambda each: each.host)

    def _of(self, tenant: str, host: str) -> HostSettings:
        self._require()
        return self._settings.get((tenant, host)) or HostSettings(tenant=tenant, host=host)

    def _keep(self, settings: HostSettings) -> HostSettings:
        self._settings[settings.tenant, settings.host] = settings
        return settings


class Hosts:
    """The service of host settings over fakes, which are the attributes."""

    def __init__(self, clock: Clock, policy: AddressPolicy = PUBLIC_ONLY) -> None:
        self.store = FakeHostStore()
        self.ledger = FakeHostStateStore()
        self.pace = pace_at(self.ledger, clock)
        self.service = HostService(store=self.store, pace=self.pace, policy=policy, clock=clock)
