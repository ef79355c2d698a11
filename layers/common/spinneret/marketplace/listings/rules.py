"""Rules of listing records."""

from spinneret.kernel.errors import Conflict


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
