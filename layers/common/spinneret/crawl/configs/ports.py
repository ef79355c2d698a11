"""What crawl configs need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.crawl.configs.models import Config
from spinneret.kernel.paging import Page


class ConfigStore(Protocol):
    """Configs by tenant and id; names are unique per tenant, and at most one is the default.

    Raises DependencyUnavailable.
    """

    def add(self, config: Config) -> None:
        """Store a new one; raises Conflict when its name is taken.

        One that is the default takes the place of another.
        """
        ...

    def get(self, tenant: str, config_id: str) -> Config | None:
        """The config as it stands."""
        ...

    def default(self, tenant: str) -> Config | None:
        """The tenant's default, if it has one."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        """Up to `limit` configs with ids before `after`, newest first."""
        ...

    def replace(self, former: Config, config: Config) -> bool:
        """Write `config` over `former`; False when that isn't what stands any more.

        Raises Conflict when another config has the name.
        """
        ...

    def remove(self, config: Config) -> bool:
        """Remove it; False when it isn't what stands any more.

        Raises Conflict while something refers to it.
        """
        ...
