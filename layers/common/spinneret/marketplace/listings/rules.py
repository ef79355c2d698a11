"""Rules of listing records."""

from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import Listing, ListingState


def is_begun(former: Listing | None, listing: Listing) -> bool:
    """Return whether the change of a record says that a listing is about to be created."""
    begun_before = former.intent_at if former is not None else None
    return listing.state is ListingState.CREATING and listing.intent_at != begun_before


def held_by(product_id: str, marketplace: str, external_id: str) -> Conflict:
    """Build the exception for a listing that another product holds."""
    return Conflict(
        f"the listing {external_id} is another product's: end or unlink it there first",
        details={
            "product_id": product_id,
            "marketplace": marketplace,
            "external_id": external_id,
        },
    )
