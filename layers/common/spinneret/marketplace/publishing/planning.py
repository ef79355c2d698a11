"""Plan a batch product by product, without writing anything here or on the marketplace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from spinneret.kernel.errors import field_error
from spinneret.kernel.service import service
from spinneret.marketplace.listings.models import ENDED, Listing
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.products.models import Product, ProductContent
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.products.rules import shown_on
from spinneret.marketplace.publishing.actions import find_action
from spinneret.marketplace.publishing.models import ActionType, PlannedListing, PreflightResult
from spinneret.marketplace.publishing.plans import Platform

RunPreflight = Callable[[str, str, Sequence[PlannedListing]], Mapping[str, PreflightResult]]
"""(tenant, marketplace, candidates) → results by product id."""
_ASKED: Final = 10  # products per plan that the marketplace checks, within one request


@dataclass(frozen=True, kw_only=True)
class PlannedOutcome:
    """Planned outcome for one product of a batch."""

    product_id: str
    outcome: str
    """One of `create`, `update`, `end`, `look`, `nothing` and `refused`."""
    fields: tuple[Mapping[str, Any], ...] = ()
    """Fields that are missing or wrong."""
    ruled: tuple[Mapping[str, Any], ...] = ()
    """Fields that the seller's rules change, with the product's value and the shown one."""
    preflight: PreflightResult = field(default_factory=PreflightResult)
    """Preflight result of the marketplace."""


@service
class Planner:
    """Plans batches. All methods raise DependencyUnavailable."""

    products: ProductStore
    listings: ListingStore
    preferences: PreferenceStore
    platforms: Mapping[str, Platform]
    actions: Mapping[str, ActionType]
    run_preflight: RunPreflight

    def plan(
        self, tenant: str, marketplace: str, action_code: str, product_ids: Sequence[str]
    ) -> list[PlannedOutcome]:
        """Return one outcome per product. Raises ValidationFailed for an unknown action."""
        find_action(self.actions, marketplace, action_code)
        preferences = self.preferences.get(tenant, marketplace)
        found: list[PlannedOutcome] = []
        candidates: list[PlannedListing] = []
        for product_id in dict.fromkeys(product_ids):
            product = self.products.get(tenant, product_id)
            if product is None:
                missing = (field_error("product_id", "no such product"),)
                found.append(
                    PlannedOutcome(product_id=product_id, outcome="refused", fields=missing)
                )
                continue
            listing = self.listings.get(tenant, product.id, marketplace)
            content = shown_on(product, preferences, {})
            planned = self._planned(product, content, listing, marketplace, action_code)
            found.append(planned)
            if planned.outcome in ("create", "update"):
                candidates.append(PlannedListing(product=product, content=content, listing=listing))
        said = dict(self.run_preflight(tenant, marketplace, candidates[:_ASKED]))
        if said:
            why = f"only the first {_ASKED} products of a plan are asked about"
            said |= {
                each.product.id: PreflightResult(unchecked=why) for each in candidates[_ASKED:]
            }
        return [_with_preflight(each, said.get(each.product_id)) for each in found]

    def _planned(
        self,
        product: Product,
        content: ProductContent,
        listing: Listing | None,
        marketplace: str,
        action_code: str,
    ) -> PlannedOutcome:
        platform = self.platforms[marketplace]
        is_live = listing is not None and listing.state not in ENDED
        checked = action_code in ("publish", "update")
        fields = tuple(platform.check(content)) if checked else ()
        if action_code not in platform.plans:
            why = platform.unsupported.get(action_code, "unsupported")
            fields = (*fields, field_error("action_code", why))
        outcome = "refused" if fields else _outcome(action_code, is_live)
        return PlannedOutcome(
            product_id=product.id,
            outcome=outcome,
            fields=fields,
            ruled=_ruled(product, content, marketplace) if checked else (),
        )


def _ruled(
    product: Product, content: ProductContent, marketplace: str
) -> tuple[Mapping[str, Any], ...]:
    """Return the fields that differ from the content without rules."""
    unruled = shown_on(product, Preferences(tenant=product.tenant, marketplace=marketplace), {})
    return tuple(
        {"field": name, "product": getattr(unruled, name), "shown": getattr(content, name)}
        for name in ("title", "price", "quantity")
        if getattr(unruled, name) != getattr(content, name)
    )


def _with_preflight(planned: PlannedOutcome, result: PreflightResult | None) -> PlannedOutcome:
    """Return the outcome with the result; it is refused if the marketplace would refuse the
    product."""
    if result is None:
        return planned
    return replace(
        planned,
        outcome="refused" if result.problems else planned.outcome,
        fields=(*planned.fields, *result.problems),
        preflight=result,
    )


def _outcome(action_code: str, is_live: bool) -> str:
    match action_code:
        case "publish":
            return "update" if is_live else "create"
        case "update":
            return "update" if is_live else "nothing"
        case "delete":
            return "end" if is_live else "nothing"
        case _:
            return "look"
