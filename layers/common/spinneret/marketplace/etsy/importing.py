"""A seller's active listings on Etsy, read for an import."""

from collections.abc import Mapping
from html import unescape

from spinneret.marketplace.etsy import rules
from spinneret.marketplace.etsy.answers import ShopListing
from spinneret.marketplace.etsy.api import EtsyApi
from spinneret.marketplace.imports.models import FoundListing, FoundListingPage
from spinneret.marketplace.limits import IMPORT_PAGE


def read_page(api: EtsyApi, after: str | None) -> FoundListingPage:
    """Return a page of the shop's active listings, the oldest first, so that new ones don't move
    the pages.

    A page begins with the last listing of the page before, which `after` names with its offset. If
    another one is there, listings ended and those behind them moved up: the page before is read
    again.
    """
    offset, _, last = (after or "0").partition(":")
    page = api.active(int(offset), IMPORT_PAGE)
    following = None
    if last and (not page or page[0]["listing_id"] != last):
        following = str(max(0, int(offset) - IMPORT_PAGE + 1))
    elif len(page) == IMPORT_PAGE:
        following = f"{int(offset) + IMPORT_PAGE - 1}:{page[-1]['listing_id']}"
    return FoundListingPage(listings=[_found(each) for each in page], after=following)


def _found(listing: ShopListing) -> FoundListing:
    price, skus = listing.get("price"), listing.get("skus") or []
    category = listing.get("taxonomy_id")
    return FoundListing(
        external_id=listing["listing_id"],
        reference=listing["listing_id"],
        title=unescape(listing.get("title") or ""),
        sku=skus[0] if skus and skus[0] else None,
        url=listing.get("url"),
        is_varied=bool(listing.get("has_variations")),
        description=unescape(listing.get("description") or ""),
        price=rules.money_text(price) if price else None,
        currency=price.get("currency_code", "EUR") if price else "",
        quantity=listing.get("quantity") or 0,
        images=_images(listing),
        attributes=rules.attributes_of(listing),
        category_id=str(category) if category else None,
    )


def _images(listing: ShopListing) -> Mapping[str, str]:
    images = sorted(listing.get("images") or [], key=lambda each: each.get("rank") or 0)
    return {
        url: each["listing_image_id"]
        for each in images
        if (url := each.get("url_fullxfull")) is not None
    }
