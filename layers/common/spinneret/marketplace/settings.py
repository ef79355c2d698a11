"""Settings that functions of the marketplace area read from their environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.kernel.settings import SettingsError
from spinneret.marketplace.driving_wiring import PublishingSettings
from spinneret.web.fetching.wiring import FetchSettings


@dataclass(frozen=True, kw_only=True)
class MarketplaceSettings(PublishingSettings, FetchSettings):
    """Table, key and secret, and the hosts of the marketplaces."""

    secrets_key_id: str
    marketplace_secret: str
    """ARN of the secret that holds the client ids and secrets."""
    user_agent: str
    marketplace_hosts: frozenset[str] = frozenset()
    """Pairs `name=origin`, such as `ebay.api=https://api.sandbox.ebay.com`: each replaces a host's
    origin."""


@dataclass(frozen=True, kw_only=True)
class MarketplaceApiSettings(MarketplaceSettings):
    """Settings of the API, which begins batches and sends a seller's browser on after a
    callback."""

    publish_machine: str

    marketplace_return_url: str


def hosts_of(settings: MarketplaceSettings, known: Mapping[str, str]) -> dict[str, str]:
    """Return the origins of all hosts. Raises SettingsError for a name that no marketplace has."""
    given = dict(each.partition("=")[::2] for each in settings.marketplace_hosts)
    if unknown := sorted(given.keys() - known.keys()):
        raise SettingsError(f"environment variable MARKETPLACE_HOSTS: no host {unknown[0]}")
    return {**known, **given}
