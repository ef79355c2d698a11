"""Steps for existing listings and orders on Etsy."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import InputNeeded, MarketplaceUnsettled
from spinneret.marketplace.etsy import drafts, rules
from spinneret.marketplace.etsy.answers import Receipt, ShopListing, Transaction
from spinneret.marketplace.listings.models import Listing, ListingState, drift_rows
from spinneret.marketplace.listings.rules import require_no_other
from spinneret.marketplace.money import decimal_text
from spinneret.marketplace.orders.models import OrderLine, OrderState
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.ordering import OrderPage, read_orders
from spinneret.marketplace.publishing.work import StepContext

_REMOVED: Final = "removed"


def sync(work: StepContext) -> Mapping[str, Any]:
    """Adopt the product's listing and report differences, or record its end.

    A listing that is sold out, expired or deactivated can be renewed. It remains the product's
    listing, or a second one would be created.
    """
    _, content = work.subject.sold
    listing = drafts.known(work)
    listing_id = drafts.standing_id(listing)
    if listing_id is None:
        if listing.version:
            work.record(last_sync_at=work.clock())
        return {"state": "ended" if listing.version else "unknown"}
    standing = drafts.api_of(work).listing(listing_id)
    if standing is None or standing["state"] == _REMOVED:
        common.await_visible(work)
        gone(work, listing)
        return {"state": "ended"}
    drift = common.drift_between(*_ours_and_theirs(content, standing))
    work.record_about(
        listing,
        state=_state_of(standing, listing),
        external_id=listing_id if standing["state"] == "active" else listing.external_id,
        reference=listing_id,
        url=standing.get("url") or listing.url,
        drift=drift,
        last_sync_at=work.clock(),
    )
    return {
        "state": standing["state"],
        "etsy_id": listing_id,
        "drift": drift_rows(drift),
    }


def _state_of(standing: ShopListing, listing: Listing) -> ListingState:
    if standing["state"] == "active":
        return ListingState.ACTIVE
    return ListingState.DRAFT if listing.state is ListingState.ACTIVE else listing.state


def _ours_and_theirs(
    content: ProductContent, standing: ShopListing
) -> tuple[dict[str, Any], dict[str, Any]]:
    title = standing.get("title")
    is_same = title is not None and rules.same_title(title) == rules.same_title(content.title)
    ours: dict[str, Any] = {"title": content.title, "quantity": content.quantity}
    theirs = {"title": content.title if is_same else title, "quantity": standing.get("quantity")}
    if money := standing.get("price"):
        ours["price"] = decimal_text(content.price, content.currency)
        theirs["price"] = rules.money_text(money)
    return ours, theirs


def link(work: StepContext) -> Mapping[str, Any]:
    """Link the given listing to the product; null means that no listing was created."""
    given = work.subject.given
    if "external_id" not in given:
        common.given_text(work.subject, "external_id")
    if given["external_id"] is None:
        gone(work, work.listing)
        return {"linked": None}
    listing_id, api = common.given_text(work.subject, "external_id"), drafts.api_of(work)
    standing = api.listing(listing_id)
    if standing is None:
        missing = InputNeeded("there is no such listing", details={"external_id": listing_id})
        raise MarketplaceUnsettled(missing.message, otherwise=missing)
    known = work.listing
    require_no_other(drafts.standing_id(known), listing_id)
    if len(api.inventory(listing_id)) > 1:
        raise common.varied(listing_id)
    active = standing["state"] == "active"
    work.record_about(
        known,
        state=ListingState.ACTIVE if active else ListingState.CREATING,
        external_id=listing_id,
        reference=listing_id,
        url=standing.get("url"),
        last_sync_at=work.clock(),
    )
    return {"linked": listing_id, "state": standing["state"]}


def gone(work: StepContext, listing: Listing) -> None:
    """Record that the listing has ended."""
    common.ended(work, listing, ListingState.ENDED, reference=None)


def _state_of_order(receipt: Receipt) -> OrderState:
    match receipt.get("status", "").lower():
        case "canceled":
            return OrderState.CANCELLED
        case "fully refunded":
            return OrderState.REFUNDED
        case _:
            return OrderState.PAID if receipt.get("is_paid", True) else OrderState.PENDING


def orders(work: StepContext) -> Mapping[str, Any]:
    """Read the orders into the order book."""
    api = drafts.api_of(work)

    def read_page(since: datetime, offset: int) -> OrderPage:
        page = api.receipts(since, offset)
        receipts = page["results"]
        lines = [_line(receipt, line) for receipt in receipts for line in receipt["transactions"]]
        return OrderPage(lines=lines, orders=len(receipts), total=page["count"])

    return read_orders(work, read_page)


def _line(receipt: Receipt, line: Transaction) -> OrderLine:
    made = receipt.get("created_timestamp")
    return OrderLine(
        order_id=receipt["receipt_id"],
        line_id=line["transaction_id"],
        sku=line.get("sku") or "",
        quantity=line.get("quantity", 1),
        sold_at="" if made is None else to_iso(datetime.fromtimestamp(made, UTC)),
        state=_state_of_order(receipt),
        listing_id=line.get("listing_id"),
    )
