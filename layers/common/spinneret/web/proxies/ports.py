"""What proxies need from outside."""

from __future__ import annotations

from typing import Protocol

from spinneret.web.proxies.models import ProxyConfig, ProxyPage, Usage


class ProxyStore(Protocol):
    """Configs by tenant and id; names are unique per tenant. Raises DependencyUnavailable."""

    def add(self, config: ProxyConfig) -> None:
        """Store a new config; raises Conflict when its name is taken."""
        ...

    def get(self, tenant: str, config_id: str) -> ProxyConfig | None:
        """The config as it stands."""
        ...

    def page(self, tenant: str, after: str | None, limit: int) -> ProxyPage:
        """Up to `limit` of the tenant's configs with ids before `after`, newest first."""
        ...

    def replace(self, former: ProxyConfig, config: ProxyConfig) -> bool:
        """Write `config` over `former`; False when that isn't what stands any more.

        Raises Conflict when another config has the name.
        """
        ...

    def remove(self, config: ProxyConfig) -> bool:
        """Remove the config; False when that isn't what stands any more."""
        ...


class UsageLedger(Protocol):
    """Turns, uses and failures, shared by all workers; `config` names its own version of them.

    Each method is one atomic update, and a call that is repeated because its answer was lost may
    count twice: that shifts a turn and no more. Raises DependencyUnavailable.
    """

    def read(self, config: ProxyConfig) -> Usage:
        """What is known; never an outdated state."""
        ...

    def take_turn(self, config: ProxyConfig, now: int) -> Usage:
        """The state with one turn more: no two callers get the same one."""
        ...

    def count_use(self, config: ProxyConfig, position: int, seen: Usage, now: int) -> Usage | None:
        """Count a use if the server's count is as it was seen; else the state as it stands.

        None says that it was counted. Where the hour is over, all counts begin anew.
        """
        ...

    def add_failure(self, config: ProxyConfig, position: int, now: int) -> None:
        """One failure more in a row, or the first where the last is forgotten."""
        ...

    def clear_failures(self, config: ProxyConfig, position: int) -> None:
        """The server works again."""
        ...
