"""Steps for existing listings, orders and conversations on eBay."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import InputNeeded, MarketplaceUnsettled, field_error
from spinneret.marketplace import limits
from spinneret.marketplace.ebay import answers, rules
from spinneret.marketplace.ebay.answers import Order
from spinneret.marketplace.ebay.api import EbayApi
from spinneret.marketplace.ebay.listing_steps import api_of, listing_of, standing_offer
from spinneret.marketplace.listings.models import Listing, ListingState, drift_rows
from spinneret.marketplace.listings.rules import require_no_other
from spinneret.marketplace.money import decimal_text
from spinneret.marketplace.orders.models import OrderLine, OrderState
from spinneret.marketplace.publishing import common
from spinneret.marketplace.publishing.ordering import OrderPage, read_orders
from spinneret.marketplace.publishing.work import StepContext


def sync(work: StepContext) -> Mapping[str, Any]:
    """Adopt the listing of the product's SKU and report differences, or record its end."""
    product, _ = work.subject.sold
    listing, api = work.listing, api_of(work)
    offer = standing_offer(api, listing, product.sku)
    listing_id = listing_of(offer)
    if offer is None or listing_id is None:
        if listing.state is ListingState.ACTIVE or _has_lost_offer(api, listing):
            common.await_visible(work)
            common.ended(work, listing, ListingState.ENDED)
        elif listing.version:
            work.record(last_sync_at=work.clock())
        return {"state": "ended" if listing.version else "unknown"}
    return _adopted(work, listing, offer, listing_id)


def _has_lost_offer(api: EbayApi, listing: Listing) -> bool:
    """Return whether the offer that was made for a listing was deleted on eBay."""
    if listing.state is not ListingState.CREATING or listing.reference is None:
        return False
    return api.offer(listing.reference) is None


def link(work: StepContext) -> Mapping[str, Any]:
    """Link the listing `external_id`, or without it the only one, of the product's SKU to the
    product; null means that no listing was created.

    eBay finds offers by SKU only. Raises InputNeeded if no offer of the SKU has the listing.
    """
    product, _ = work.subject.sold
    given = work.subject.given
    if "external_id" in given and given["external_id"] is None:
        common.ended(work, work.listing, ListingState.ENDED, reference=None)
        return {"linked": None}
    wanted = common.given_text(work.subject, "external_id") if "external_id" in given else None
    listings = {
        listing_id: offer
        for offer in api_of(work).published_offers(product.sku)
        if (listing_id := listing_of(offer)) is not None and wanted in (None, listing_id)
    }
    if len(listings) != 1:
        refusal = _unlinked(product.sku, wanted, list(listings))
        if listings:
            raise refusal
        raise MarketplaceUnsettled(refusal.message, otherwise=refusal)  # a new one may show late
    [(listing_id, offer)] = listings.items()
    known = work.listing
    require_no_other(known.current_id, listing_id)
    if api_of(work).item(product.sku).get("groupIds"):  # the SKU is one of a listing's variations
        raise common.varied(listing_id)
    return {"linked": listing_id, **_adopted(work, known, offer, listing_id)}


def _unlinked(sku: str, wanted: str | None, found: list[str]) -> InputNeeded:
    """Build the exception for a listing that isn't found, or isn't the only one."""
    what = "this listing" if wanted else "exactly one listing"
    return InputNeeded(
        f"eBay has no offer of the SKU {sku} with {what}",
        details={
            "fields": [
                field_error(
                    "input_data.external_id",
                    "isn't a listing of the product's SKU",
                    "give a listing of the product's SKU, or change the product's SKU",
                )
            ],
            "external_ids": found,
        },
    )


def _adopted(
    work: StepContext, known: Listing, offer: Mapping[str, Any], listing_id: str
) -> Mapping[str, Any]:
    """Record the published offer as the product's listing, with its differences. `known` is the
    record before the look-up."""
    _, content = work.subject.sold
    theirs = rules.price_of(offer.get("pricingSummary", {}))
    price = decimal_text(content.price, content.currency)
    drift = common.drift_between(
        {"price": price, "currency": content.currency, "quantity": content.quantity},
        {
            "price": theirs["value"],
            "currency": theirs["currency"],
            "quantity": offer.get("availableQuantity"),
        },
    )
    work.record_about(
        known,
        state=ListingState.ACTIVE,
        external_id=listing_id,
        reference=str(offer["offerId"]),
        url=rules.page_of(str(offer["marketplaceId"]), listing_id),
        drift=drift,
        last_sync_at=work.clock(),
    )
    return {
        "state": "active",
        "ebay_id": listing_id,
        "drift": drift_rows(drift),
    }


def orders(work: StepContext) -> Mapping[str, Any]:
    """Read the orders into the order book."""
    api = api_of(work)

    def read_page(since: datetime, offset: int) -> OrderPage:
        page = api.orders(since, offset)
        orders = page["orders"]
        lines = [_line(order, line) for order in orders for line in order["lineItems"]]
        return OrderPage(lines=lines, orders=len(orders), total=page["total"])

    return read_orders(work, read_page)


def _line(order: Order, line: answers.LineItem) -> OrderLine:
    return OrderLine(
        order_id=order["orderId"],
        line_id=line["lineItemId"],
        sku=line.get("sku", ""),
        quantity=line.get("quantity", 1),
        sold_at=order.get("creationDate", ""),
        state=_state_of(order),
        listing_id=line.get("legacyItemId"),
    )


def _state_of(order: Order) -> OrderState:
    if order.get("cancelStatus", {}).get("cancelState") == "CANCELED":
        return OrderState.CANCELLED
    match order.get("orderPaymentStatus"):
        case "FULLY_REFUNDED":
            return OrderState.REFUNDED
        case "FAILED":
            return OrderState.FAILED
        case "PENDING":
            return OrderState.PENDING
        case _:
            return OrderState.PAID


def message(work: StepContext) -> Mapping[str, Any]:
    """Send the message at most once per job: the conversation shows whether it was sent."""
    subject = work.subject
    text = common.given_text(subject, "text")
    conversation = common.given_text(subject, "conversation_id")
    api = api_of(work)

    def find() -> Mapping[str, Any] | None:
        # Not since the start: a retry looks for messages of earlier runs, too.
        skew = timedelta(seconds=limits.MARKETPLACE_SKEW_SECONDS)
        begun = to_iso(work.context.job.created_at - skew)
        for each in api.conversation(conversation):
            if each.get("messageBody") == text and each.get("createdDate", "") >= begun[:19]:
                return {"message_id": each.get("messageId", "")}
        return None

    body = {"messageText": text, "conversationId": conversation}
    return work.once_in_job("message", lambda: {"message_id": api.send_message(body)}, find)
