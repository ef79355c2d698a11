"""Ports of crawl configs."""

from typing import Protocol

from spinneret.crawl.configs.models import Config
from spinneret.kernel.rows import RowStore


class ConfigStore(RowStore[Config], Protocol):
    """Configs; names are unique per tenant, and at most one is the default.

    A default that is stored replaces the former default.
    """

    def default(self, tenant: str) -> Config | None:
        """Return the tenant's default config; None if it has none."""
