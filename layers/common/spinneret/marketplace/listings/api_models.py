"""Responses about listing records."""

from __future__ import annotations

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.marketplace.listings.models import ListingState


class DriftView(View):
    """A field whose value on the marketplace differs from the published one."""

    field: str
    ours: str
    theirs: str


class ListingView(View):
    """A product on a marketplace."""

    product_id: str
    marketplace: str
    sku: str
    state: ListingState
    external_id: str | None
    url: str | None
    digest: str | None
    """Digest of the content published last."""
    drift: list[DriftView]
    last_sync_at: Timestamp | None


class ListingList(ListOf[ListingView]):
    """A page of listing records."""
