"""Requests and responses of imports."""

from pydantic import BaseModel, ConfigDict

from spinneret.kernel.views import ListOf, View
from spinneret.marketplace.imports.models import ImportOutcome


class ListingImportRequest(BaseModel):
    """An import of the seller's listings."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    create: bool = False
    """Whether a listing that no product matches becomes a product."""


class ImportedListingView(View):
    """A listing that an import has read."""

    external_id: str
    """Id of the listing at the marketplace."""
    title: str
    sku: str | None
    """SKU of the listing; null if it has none."""
    url: str | None
    outcome: ImportOutcome
    """State of the listing in this import."""
    product_id: str | None
    """Product that has the listing; null without one."""
    rivals: list[str]
    """Ids of the products of a conflict."""
    reason: str | None
    """Reason of a conflict or a refusal, with the next step; null otherwise."""


class ImportedListingList(ListOf[ImportedListingView]):
    """A page of the listings of an import, sorted by id."""
