"""Use cases of a seller's preferences, behind the routes."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import Contended, ValidationFailed
from spinneret.kernel.races import until_written
from spinneret.kernel.service import service
from spinneret.marketplace.lookup import of_marketplace
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.preferences.rules import unknown_choices


@service
class PreferenceService:
    """Use cases of preferences. All methods raise NotFound for an unknown marketplace, and
    DependencyUnavailable."""

    store: PreferenceStore
    marketplaces: Mapping[str, Collection[str]]
    """Marketplaces, each with the names of its choices."""
    clock: Clock

    def get(self, tenant: str, marketplace: str) -> Preferences:
        """Return the preferences; the defaults if the seller has set none."""
        of_marketplace(self.marketplaces, marketplace)
        return self.store.get(tenant, marketplace)

    def change(
        self,
        tenant: str,
        marketplace: str,
        is_paused: bool | None,
        changes: Mapping[str, Any],
        choices: Mapping[str, str | None],
    ) -> Preferences:
        """Change some preferences and return all. `is_paused`: None keeps the present state; a
        choice of None is no longer made.

        Jobs under way see the change at their next step. Raises Contended, and ValidationFailed for
        a choice that the marketplace doesn't have.
        """

        def changed() -> Preferences | None:
            former = self.get(tenant, marketplace)
            self._require_known(marketplace, choices)
            paused_at = former.paused_at
            if is_paused is not None:
                paused_at = (paused_at or self.clock()) if is_paused else None
            made = {**former.choices, **choices}
            kept = {name: each for name, each in made.items() if each is not None}
            after = replace(former, **changes, paused_at=paused_at, choices=kept)
            if after == former:
                return former
            after = replace(after, version=former.version + 1)
            return after if self.store.replace(after) else None

        return until_written(changed, Contended("the preferences are changing", retry_after=1))

    def _require_known(self, marketplace: str, choices: Collection[str]) -> None:
        known = self.marketplaces[marketplace]
        if fields := unknown_choices("choices", marketplace, choices, known):
            first = fields[0]
            message = f"{first['path']}: {first['message']}"
            raise ValidationFailed(message, details={"fields": fields})
