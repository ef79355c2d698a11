"""Preconditions of a listing on eBay: the seller's account and the category.

Without these a product fails at its last step, after its images and its offer were created. Every
call only reads, so a plan can check the same before anything is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from spinneret.kernel.errors import field_error
from spinneret.kernel.service import service
from spinneret.marketplace.ebay import rules
from spinneret.marketplace.ebay.answers import Aspect
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.products.models import ProductContent

POLICIES: Final = ("payment", "fulfillment", "return")
_PROGRAMME: Final = "SELLING_POLICY_MANAGEMENT"


@dataclass(frozen=True, kw_only=True)
class Precondition:
    """Facts that were found, and fields that the seller has to add."""

    found: Mapping[str, str]
    missing: Sequence[Mapping[str, str]] = field(default_factory=tuple)
    """Missing fields, each with its message."""
    why: str = ""
    """One sentence that names everything missing."""


@service
class Preconditions:
    """Looks up each precondition once and caches it."""

    api: EbayApi

    def __post_init__(self) -> None:
        self._accounts: dict[str, Precondition] = {}
        self._trees: dict[str, str] = {}
        self._aspects: dict[tuple[str, str], Sequence[Aspect]] = {}

    def account(self, site: str) -> Precondition:
        """Return policies and location of the seller on a marketplace."""
        if site not in self._accounts:
            self._accounts[site] = self._account(site)
        return self._accounts[site]

    def category(self, content: ProductContent) -> Precondition:
        """Return the leaf category with its tree, and the required aspects that the product
        lacks."""
        site, category_id = rules.site_of(content), content.category_id
        if site not in self._trees:
            self._trees[site] = self.api.tree(site)
        tree = self._trees[site]
        if category_id is None:
            category_id = self.api.suggested_category(tree, content.title)
        if category_id is None:
            return Precondition(
                found={},
                missing=[field_error("overrides.ebay.category_id", "choose a category")],
                why="eBay suggests no category for the title",
            )
        if (tree, category_id) not in self._aspects:
            self._aspects[tree, category_id] = self.api.aspects(tree, category_id)
        lacking = rules.missing_aspects(self._aspects[tree, category_id], content)
        return Precondition(
            found={"category_id": category_id, "tree": tree},
            missing=[
                field_error(f"attributes.{name}", "the category requires it") for name in lacking
            ],
            why=f"the category requires: {', '.join(lacking)}",
        )

    def _account(self, site: str) -> Precondition:
        missing: list[Mapping[str, str]] = []
        found: dict[str, str] = {}
        if _PROGRAMME not in self.api.programmes():
            missing.append(field_error("account", "join the business policies programme"))
        for kind in POLICIES:
            policies = self.api.policies(kind, site)
            if policies:
                found[f"{kind}_policy_id"] = policies[0].id
            else:
                missing.append(field_error("policy", f"create a {kind} policy for {site}"))
        if locations := self.api.locations():
            found["location_key"] = locations[0].id
        else:
            missing.append(field_error("location", "create an inventory location"))
        return Precondition(found=found, missing=missing)
