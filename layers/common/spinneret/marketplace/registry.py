"""Registry of the marketplaces, one row each.

An action that a marketplace lacks fails with the reason `unsupported`.
docs/new-marketplace.md shows how to add a row.
"""

from collections.abc import Collection, Mapping
from typing import Final

from spinneret.marketplace.ebay.platform import EBAY
from spinneret.marketplace.etsy.platform import ETSY
from spinneret.marketplace.publishing.actions import action_types
from spinneret.marketplace.publishing.models import ActionType
from spinneret.marketplace.publishing.plans import Platform
from spinneret.marketplace.vinted.platform import VINTED

_NO_IMPORT: Final = "its listings can't be read"
PLATFORMS: Final[Mapping[str, Platform]] = {
    each.name: each
    for each in (
        EBAY,
        ETSY,
        VINTED,
    )
}
BY_PLUGIN: Final = frozenset(each.name for each in PLATFORMS.values() if each.by_plugin)
"""Marketplaces that are reached through a plug-in."""
READ: Final = frozenset(
    each.name for each in PLATFORMS.values() if each.app is not None and "orders" in each.plans
)
"""Marketplaces whose orders can be read."""
SILENT: Final = frozenset(
    each.name for each in PLATFORMS.values() if "orders" not in each.plans and "sync" in each.plans
)
"""Marketplaces whose orders can't be read, but whose listings can be looked up."""
CHOICES: Final[Mapping[str, Collection[str]]] = {
    each.name: each.choosing.names.keys() if each.choosing is not None else ()
    for each in PLATFORMS.values()
}
"""Marketplaces, each with the names of its choices."""
NOT_IMPORTED: Final[Mapping[str, str | None]] = {
    each.name: None if "import" in each.plans else each.unsupported.get("import", _NO_IMPORT)
    for each in PLATFORMS.values()
}
"""Marketplaces, each with the reason why its listings can't be imported; None if they can."""
ACTION_TYPES: Final[Mapping[str, ActionType]] = action_types(PLATFORMS)
