"""Ports of crawl configs."""

from __future__ import annotations

from typing import Protocol

from spinneret.crawl.configs.models import Config
from spinneret.kernel.paging import Page


class ConfigStore(Protocol):
    """Configs by tenant and id; names are unique per tenant, and at most one is the default.

    Raises DependencyUnavailable.
    """

    def add(self, config: Config) -> None:
        """Store a new config; raise Conflict if its name is taken.

        A new default replaces the former default.
        """
        ...

    def get(self, tenant: str, config_id: str) -> Config | None:
        """Return the config (consistent read); None if it doesn't exist."""
        ...

    def default(self, tenant: str) -> Config | None:
        """Return the tenant's default config; None if it has none."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Config]:
        """Return up to `limit` configs with ids before `after`, newest first."""
        ...

    def replace(self, former: Config, config: Config) -> bool:
        """Replace `former` by `config`; return False if it changed meanwhile.

        Raises Conflict if another config has the name.
        """
        ...

    def remove(self, config: Config) -> bool:
        """Remove the config; return False if it changed meanwhile.

        Raises Conflict while anything refers to it.
        """
        ...
