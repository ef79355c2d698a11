"""Action types, with the defaults of the source design."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spinneret.kernel.errors import ValidationFailed
from spinneret.marketplace.publishing.models import ActionType
from spinneret.marketplace.publishing.plans import Platform


@dataclass(frozen=True)
class _Row:
    name: str
    priority: int
    max_retries: int
    description: str
    needs_product: bool = True


# The first four have the source's priorities and retries. Messages need a reply soon, orders and
# all listings are read like a sync, and links are made by hand.
_ACTIONS: Final[Mapping[str, _Row]] = {
    "publish": _Row("Publish", 3, 3, "List the product, once"),
    "update": _Row("Update", 3, 3, "Update the listing to the product's content"),
    "delete": _Row("Delete", 2, 1, "End the listing"),
    "sync": _Row("Sync", 4, 3, "Check the listing and report differences"),
    "orders": _Row("Orders", 4, 3, "Read new and changed orders", needs_product=False),
    "message": _Row("Message", 2, 1, "Send a message to a buyer", needs_product=False),
    "link_product": _Row("Link product", 3, 1, "Link an existing listing to the product"),
    "import": _Row(
        "Import", 4, 3, "Read all listings, link or create products", needs_product=False
    ),
}

PRIORITIES: Final = ("critical", "high", "normal", "low")
"""Names of the priorities 1 to 4."""


def action_types(platforms: Mapping[str, Platform]) -> Mapping[str, ActionType]:
    """Return all action types by full code: `{action}_{marketplace}`."""
    found = [
        ActionType(
            marketplace=marketplace,
            code=code,
            supported=code in platform.plans,
            name=row.name,
            priority=row.priority,
            max_retries=row.max_retries,
            description=row.description,
            needs_product=row.needs_product,
        )
        for marketplace, platform in sorted(platforms.items())
        for code, row in _ACTIONS.items()
    ]
    return {each.full_code: each for each in found}


def find_action(
    actions: Mapping[str, ActionType], marketplace: str, action_code: str
) -> ActionType:
    """Return the action type. Raises ValidationFailed for an unknown one."""
    found = actions.get(f"{action_code}_{marketplace}")
    if found is None:
        codes = sorted(each.code for each in actions.values() if each.marketplace == marketplace)
        known = codes or sorted({each.marketplace for each in actions.values()})
        raise ValidationFailed.of_field(
            "action_code" if codes else "marketplace",
            f"must be one of {', '.join(known)}",
            error=f"unknown action: {action_code}_{marketplace}",
        )
    return found
