"""A seller's listings on eBay, read for an import: inventory items and their published offers."""

from collections.abc import Iterator, Mapping
from typing import Any

from spinneret.marketplace.ebay import rules
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.ebay.listing_steps import listing_of
from spinneret.marketplace.imports.models import FoundListing, FoundListingPage
from spinneret.marketplace.publishing.work import StepContext


def read_page(work: StepContext, after: str | None) -> FoundListingPage:
    """Return the listings of a page of items. Listings that weren't made by the Inventory API have
    no items there and aren't found."""
    api = EbayApi(calls=work.calls, locale="en-US")
    items, following = api.items(after or "0")
    found = [listing for item in items for listing in _listings(api, item)]
    return FoundListingPage(listings=found, after=following)


def _listings(api: EbayApi, item: Mapping[str, Any]) -> Iterator[FoundListing]:
    for offer in api.published_offers(str(item["sku"])):
        listing_id = listing_of(offer)
        if listing_id is not None:
            yield _found(item, offer, listing_id)


def _found(item: Mapping[str, Any], offer: Mapping[str, Any], listing_id: str) -> FoundListing:
    product = item.get("product", {})
    price = offer.get("pricingSummary", {}).get("price", {})
    images = [str(url) for url in product.get("imageUrls") or ()]
    return FoundListing(
        external_id=listing_id,
        reference=str(offer["offerId"]),
        title=str(product.get("title") or ""),
        sku=str(item["sku"]),
        url=rules.page_of(str(offer["marketplaceId"]), listing_id),
        is_varied=bool(item.get("groupIds") or item.get("inventoryItemGroupKeys")),
        description=str(offer.get("listingDescription") or product.get("description") or ""),
        price=price.get("value"),
        currency=str(price.get("currency") or ""),
        quantity=int(offer.get("availableQuantity") or 0),
        images={url: url for url in images},
        attributes=rules.attributes_of(item, str(offer["marketplaceId"]), price.get("currency")),
        category_id=offer.get("categoryId"),
    )
