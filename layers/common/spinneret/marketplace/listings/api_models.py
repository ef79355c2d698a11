"""Answers about listing records."""

from __future__ import annotations

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.marketplace.listings.models import ListingState


class DriftView(View):
    """A field that the marketplace shows otherwise than it was published."""

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
    """Of the content that was published last."""
    drift: list[DriftView]
    last_sync_at: Timestamp | None


class ListingList(ListOf[ListingView]):
    """A page of listing records."""
