"""Rules of listing records."""

from spinneret.kernel.errors import Conflict
from spinneret.marketplace.listings.models import ENDED, Listing


def is_begun(former: Listing | None, listing: Listing) -> bool:
    """Return whether the change of a record gives the product a listing, or says that one is about
    to be created, where it had none."""
    return (former is None or former.state in ENDED) and listing.state not in ENDED


def require_no_other(standing: str | None, wanted: str) -> None:
    """Raise Conflict if the product has a listing other than the wanted one."""
    if standing not in (None, wanted):
        raise Conflict(
            f"the product has the listing {standing}: sync or delete it, then link {wanted}",
            details={"external_id": standing},
        )


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
