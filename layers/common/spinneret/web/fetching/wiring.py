"""Address policy of the stage."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.kernel.settings import Settings
from spinneret.web.fetching.addresses import AddressPolicy


@dataclass(frozen=True, kw_only=True)
class FetchSettings(Settings):
    """Addresses that this stage may reach beyond the globally reachable ones."""

    fetch_allowed_endpoints: frozenset[str] = frozenset()
    """Exact `host:port` pairs; empty except for a stage that crawls its own machine."""
    aws_lambda_runtime_api: str = ""
    """Set by Lambda; never reachable, even if allowed."""


def address_policy(settings: FetchSettings) -> AddressPolicy:
    """Return the policy of this stage."""
    denied = {settings.aws_lambda_runtime_api} - {""}
    return AddressPolicy(allowed=settings.fetch_allowed_endpoints, denied=frozenset(denied))
