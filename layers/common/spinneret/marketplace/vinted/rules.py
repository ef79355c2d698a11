"""Map a product to Vinted's terms. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spinneret.kernel.errors import field_error
from spinneret.marketplace.markup import plain_text
from spinneret.marketplace.money import decimal_text
from spinneret.marketplace.products.models import ProductContent

# Bounds of title, description, photos and price, from Vinted's own form.
TITLE: Final = (5, 100)
DESCRIPTION: Final = (5, 2000)
PHOTOS: Final = (1, 20)
PRICE_MIN: Final = 100  # minor units
CURRENCIES: Final = frozenset({"EUR", "GBP", "PLN"})
CONDITIONS: Final[Mapping[str, int]] = {
    "new_with_tags": 6,
    "new_without_tags": 1,
    "very_good": 2,
    "good": 3,
    "satisfactory": 4,
}
_NUMBERS: Final = ("package_size_id", "size_id", "brand_id", "color_id")


def check(content: ProductContent) -> Sequence[Mapping[str, str]]:
    """Return the fields that Vinted would refuse, each with its message."""
    found = []
    if not TITLE[0] <= len(content.title) <= TITLE[1]:
        found.append(field_error("title", f"Vinted accepts {TITLE[0]} to {TITLE[1]} characters"))
    if not DESCRIPTION[0] <= len(plain_text(content.description)) <= DESCRIPTION[1]:
        message = f"Vinted accepts {DESCRIPTION[0]} to {DESCRIPTION[1]} characters"
        found.append(field_error("description", message))
    if not PHOTOS[0] <= len(content.images) <= PHOTOS[1]:
        found.append(field_error("images", f"Vinted requires {PHOTOS[0]} to {PHOTOS[1]} photos"))
    if content.price < PRICE_MIN:
        found.append(field_error("price", "Vinted requires at least 1.00"))
    if content.currency not in CURRENCIES:
        found.append(field_error("currency", f"must be one of {', '.join(sorted(CURRENCIES))}"))
    if content.attributes.get("condition") not in CONDITIONS:
        found.append(field_error("attributes.condition", "Vinted requires a known one"))
    if content.category_id is None or not content.category_id.isdecimal():
        found.append(
            field_error("overrides.vinted.category_id", "the number of a Vinted catalogue")
        )
    found += [
        field_error(f"attributes.{name}", "a numeric id of Vinted")
        for name in _NUMBERS
        if not content.attributes.get(name, "0").isdecimal()
    ]
    return found


def draft_of(content: ProductContent, photo_ids: Sequence[str], reference: str) -> dict[str, Any]:
    """Return the body of a new item."""
    numbers = {
        name: int(content.attributes[name]) for name in _NUMBERS if name in content.attributes
    }
    return {
        "draft": {
            "title": content.title,
            "description": plain_text(content.description),
            "price": decimal_text(content.price, content.currency),
            "currency": content.currency,
            "catalog_id": int(content.category_id or 0),
            "status_id": CONDITIONS[content.attributes["condition"]],
            "brand": content.attributes.get("brand", ""),
            "assigned_photos": [{"id": each, "orientation": 0} for each in photo_ids],
            "item_reference": reference,
            **numbers,
        }
    }
