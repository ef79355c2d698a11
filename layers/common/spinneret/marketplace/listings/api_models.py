"""Responses about listing records."""

from spinneret.kernel.views import ListOf, Timestamp, View
from spinneret.marketplace.listings.models import ListingState


class DriftView(View):
    """A field whose value on the marketplace differs from the published one."""

    field: str
    """Name of the differing field."""
    ours: str
    """Value of the product."""
    theirs: str
    """Value at the marketplace."""


class ListingView(View):
    """A product on a marketplace."""

    product_id: str
    marketplace: str
    sku: str
    state: ListingState
    """State of the listing at the marketplace."""
    external_id: str | None
    """Id at the marketplace; null before the publication."""
    url: str | None
    """URL of the listing; null if the marketplace has none."""
    digest: str | None
    """Digest of the content published last."""
    drift: list[DriftView]
    """Differences between product and listing, as last read."""
    last_sync_at: Timestamp | None
    """Time of the last comparison (RFC 3339, UTC); null before the first one."""


class ListingList(ListOf[ListingView]):
    """A page of listing records."""
