"""Rules of imports: which product a listing matches, and the product that it becomes."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Final

from spinneret.kernel import bounds
from spinneret.kernel.errors import ValidationFailed
from spinneret.kernel.unicode import composed
from spinneret.marketplace.imports.models import FoundListing
from spinneret.marketplace.money import CURRENCIES
from spinneret.marketplace.products import limits
from spinneret.marketplace.products.models import Product, ProductContent

_SKU: Final = re.compile(r"[A-Za-z0-9_-]{1,50}")
_WORD_CHARS: Final = 200  # of an attribute's name or value
UNFIT_SKU: Final = (
    "its SKU can't be a product's: change it there to 1 to 50 letters, digits, - and _, then import"
    " again"
)


def title_key(title: str) -> str:
    """Return a key that is equal for titles which differ only in case, blanks and the composition
    of their characters (Unicode's NFC)."""
    return composed(" ".join(title.split()).casefold())


def by_title(products: Iterable[Product], marketplace: str) -> Mapping[str, list[Product]]:
    """Return the products by the keys of their own title and of the marketplace's."""
    found: dict[str, list[Product]] = {}
    for product in products:
        override = product.overrides.get(marketplace)
        titles = {product.content.title, (override and override.title) or product.content.title}
        for key in {title_key(each) for each in titles}:
            found.setdefault(key, []).append(product)
    return found


def shortened(found: FoundListing) -> FoundListing:
    """Return the listing with its description cut to the length of a product's. A description on
    eBay may be larger than a row."""
    description = found.description.strip()[: limits.PRODUCT_DESCRIPTION_MAX_CHARS]
    return replace(found, description=description)


def sku_of(found: FoundListing, marketplace: str) -> str:
    """Return the SKU of the listing's product: its own, or one made of its id if it has none that a
    product can have. A repeated import finds the same product by it."""
    if found.sku is not None and _SKU.fullmatch(found.sku):
        return found.sku
    return f"{marketplace}{found.external_id}"[:50]


def content_of(found: FoundListing) -> ProductContent:
    """Return the product that the listing becomes. Raises ValidationFailed if it has no price or
    no title."""
    title = found.title.strip()[: limits.PRODUCT_TITLE_MAX_CHARS]
    if not title:
        raise ValidationFailed("the listing has no title")
    fitting = [
        url for url in found.images if url.startswith("http") and len(url) <= bounds.URL_MAX_CHARS
    ]
    attributes = {
        name: value.strip()
        for name, value in found.attributes.items()
        if len(name) <= _WORD_CHARS and 0 < len(value.strip()) <= _WORD_CHARS
    }
    return ProductContent(
        title=title,
        description=shortened(found).description or title,
        price=_minor_units(found),
        currency=found.currency,
        quantity=min(max(found.quantity, 0), limits.PRODUCT_QUANTITY_MAX),
        images=tuple(fitting[: limits.PRODUCT_IMAGES_MAX]),
        attributes=dict(list(attributes.items())[: limits.PRODUCT_ATTRIBUTES_MAX]),
    )


def _minor_units(found: FoundListing) -> int:
    digits = CURRENCIES.get(found.currency)
    if digits is None:
        raise ValidationFailed(f"no product can have the currency {found.currency or 'none'}")
    try:
        price = int(Decimal(found.price or "").scaleb(digits).to_integral_value())
    except InvalidOperation as error:
        raise ValidationFailed("the listing has no price") from error
    if not 1 <= price <= limits.PRODUCT_PRICE_MAX:
        raise ValidationFailed(f"no product can have the price {found.price} {found.currency}")
    return price
