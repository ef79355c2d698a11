"""Ports of proxies."""

from typing import Protocol

from spinneret.kernel.rows import RowStore
from spinneret.web.proxies.models import ProxyConfig, Usage


class ProxyStore(RowStore[ProxyConfig], Protocol):
    """Configs; names are unique per tenant."""


class ProxyUsageStore(Protocol):
    """Picks, uses and failures, shared by all workers, for each version of a config.

    Each method is one atomic update. A call that is repeated because its response was lost may
    count twice; that shifts the rotation by one. Methods raise DependencyUnavailable.
    """

    def read(self, config: ProxyConfig) -> Usage:
        """Read the current usage consistently."""

    def count_pick(self, config: ProxyConfig, now: int) -> Usage:
        """Count a pick; no two callers get the same count."""

    def count_use(self, config: ProxyConfig, position: int, seen: Usage, now: int) -> Usage | None:
        """Count a use if the server's count is unchanged since `seen`.

        Return None if it was counted, else the current usage. After an hour all counts restart at
        0.
        """

    def add_failure(self, config: ProxyConfig, position: int, now: int) -> None:
        """Count a consecutive failure, or the first one if the last has expired."""

    def clear_failures(self, config: ProxyConfig, position: int) -> None:
        """Clear the failures of a server that works again."""
