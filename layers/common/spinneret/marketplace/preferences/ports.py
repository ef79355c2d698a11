"""Ports of the preferences service."""

from typing import Protocol

from spinneret.marketplace.preferences.models import Preferences


class PreferenceStore(Protocol):
    """Preferences by tenant and marketplace. Raises DependencyUnavailable."""

    def get(self, tenant: str, marketplace: str) -> Preferences:
        """Return the preferences (consistent read); the defaults if none are stored."""

    def replace(self, preferences: Preferences) -> bool:
        """Store the next version; return False if the former one changed meanwhile."""
