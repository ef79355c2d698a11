"""The ports of proxies."""

from __future__ import annotations

from typing import Protocol

from spinneret.kernel.paging import Page
from spinneret.web.proxies.models import ProxyConfig, Usage


class ProxyStore(Protocol):
    """Configs by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, config: ProxyConfig) -> None:
        """Store a new config; raises Conflict when its name is taken."""
        ...

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        """The present config."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> Page[ProxyConfig]:
        """Up to `limit` of the tenant's configs with ids before `after`, newest first."""
        ...

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        """Write `config` over `former`; False when the stored version is another one.

        Raises Conflict when another config has the name.
        """
        ...

    def remove(self, config: ProxyConfig) -> bool:
        """Remove the config; False when the stored version is another one."""
        ...


class ProxyUsageStore(Protocol):
    """Picks, uses and failures, shared by all workers; each version of a config has its own.

    Each method is one atomic update, and a call that is repeated because its answer was lost may
    count twice: that shifts the rotation by one. Raises DependencyUnavailable.
    """

    def read(self, config: ProxyConfig) -> Usage:
        """The present state, read consistently."""
        ...

    def count_pick(self, config: ProxyConfig, now: int) -> Usage:
        """Count a pick; no two callers get the same count."""
        ...

    def count_use(self, config: ProxyConfig, position: int, seen: Usage, now: int) -> Usage | None:
        """Count a use if the server's count is as it was seen; else the present state.

        None says that it was counted. After the hour all counts start again at 0.
        """
        ...

    def add_failure(self, config: ProxyConfig, position: int, now: int) -> None:
        """Count a failure in a row, or the first one where the last is forgotten."""
        ...

    def clear_failures(self, config: ProxyConfig, position: int) -> None:
        """The server works again."""
        ...
