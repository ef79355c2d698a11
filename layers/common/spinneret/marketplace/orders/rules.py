"""Rules of orders and of the listings that they concern."""

from datetime import UTC, datetime, timedelta
from typing import Final

from spinneret.marketplace.listings.models import ENDED, Listing, ListingState
from spinneret.marketplace.orders.models import OrderState, Sale, SaleOutcome

_IN_DOUBT: Final = timedelta(minutes=15)  # longer than a claim and its retries
_UNSEEN: Final = timedelta(days=1)
_IMPORTED_WITHIN: Final = timedelta(hours=3)  # longer than an import waits and works


def is_about_refund(former: OrderState, state: OrderState) -> bool:
    """Return whether the new state is that of a refund: eBay reports a refund that waits or failed
    as it does a payment."""
    return former is OrderState.PAID and state in (OrderState.PENDING, OrderState.FAILED)


def may_be_imported(sale: Sale, now: datetime) -> bool:
    """Return whether an import that was under way when the sale was read may still create its
    product."""
    recorded = moment_of(sale.recorded_at)
    is_unknown = sale.outcome is SaleOutcome.UNKNOWN_PRODUCT
    return is_unknown and recorded is not None and now < recorded + _IMPORTED_WITHIN


def moment_of(text: str) -> datetime | None:
    """Return the time that a marketplace reports; None if it reports none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def is_settled(listing: Listing, left: int) -> bool:
    """Return whether sold stock can't be bought there. A draft gets the product's stock when it is
    renewed, but must end when no stock remains."""
    return listing.state in ENDED or (listing.state is ListingState.DRAFT and left > 0)


def is_due(listing: Listing, now: datetime) -> bool:
    """Return whether the listing has been in doubt for 15 minutes, or not looked at for a day."""
    if listing.state in ENDED:
        return False
    seen = listing.last_sync_at or listing.intent_at
    limit = _IN_DOUBT if listing.state is ListingState.CREATING else _UNSEEN
    return seen is not None and seen + limit <= now


def key_part(text: str) -> str:
    """Return a marketplace's id without key separators."""
    return text.replace("#", "-")
