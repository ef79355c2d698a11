"""Use cases of a seller's preferences, behind the routes."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, NotFound
from spinneret.kernel.service import service
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.ports import PreferenceStore

_RACES: Final = 5  # concurrent changes by one seller are rare


@service
class PreferenceService:
    """Use cases of preferences. All methods raise NotFound for an unknown marketplace, and
    DependencyUnavailable."""

    store: PreferenceStore
    marketplaces: frozenset[str]
    clock: Clock

    def get(self, tenant: str, marketplace: str) -> Preferences:
        """Return the preferences; the defaults if the seller has set none."""
        if marketplace not in self.marketplaces:
            raise NotFound(f"no such marketplace: one of {', '.join(sorted(self.marketplaces))}")
        return self.store.get(tenant, marketplace)

    def change(
        self, tenant: str, marketplace: str, is_paused: bool | None, changes: Mapping[str, Any]
    ) -> Preferences:
        """Change some preferences and return all. `is_paused`: None keeps the present state.

        Jobs under way see the change at their next step. Raises Contended.
        """
        for _ in range(_RACES):
            former = self.get(tenant, marketplace)
            paused_at = former.paused_at
            if is_paused is not None:
                paused_at = (paused_at or self.clock()) if is_paused else None
            after = replace(former, **changes, paused_at=paused_at)
            if after == former:
                return former
            after = replace(after, version=former.version + 1)
            if self.store.replace(after):
                return after
        raise Contended("the preferences are changing", retry_after=1)
