"""Answers about listing records."""

from __future__ import annotations

from pydantic import BaseModel

from spinneret.kernel.clock import optional_stamp
from spinneret.kernel.paging import cursor_of
from spinneret.marketplace.listings.models import Listing, ListingPage, ListingState


class DriftView(BaseModel):
    """A field that the marketplace shows otherwise than it was published."""

    field: str
    ours: str
    theirs: str


class ListingView(BaseModel):
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
    last_sync_at: str | None


class ListingList(BaseModel):
    """A page of listing records."""

    items: list[ListingView]
    next_cursor: str | None
    has_more: bool


def listing_view(listing: Listing) -> ListingView:
    """A record as its tenant sees it."""
    return ListingView(
        product_id=listing.product_id,
        marketplace=listing.marketplace,
        sku=listing.sku,
        state=listing.state,
        external_id=listing.external_id,
        url=listing.url,
        digest=listing.digest,
        drift=[
            DriftView(field=each.field, ours=each.ours, theirs=each.theirs)
            for each in listing.drift
        ],
        last_sync_at=optional_stamp(listing.last_sync_at),
    )


def listing_list(page: ListingPage) -> ListingList:
    """A page as its tenant sees it."""
    return ListingList(
        items=[listing_view(each) for each in page.listings],
        next_cursor=cursor_of(page.after),
        has_more=page.after is not None,
    )
