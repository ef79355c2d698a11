"""Resolve a product's content on a marketplace, and validate products."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from spinneret.kernel.errors import ValidationFailed, field_error
from spinneret.marketplace.money import CURRENCIES
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.preferences.rules import (
    price_by,
    quantity_by,
    title_by,
    unknown_choices,
)
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.marketplace.vocabularies.models import CLOSED, VOCABULARIES

VARIATIONS: Final = frozenset({"variants", "variations"})
"""Names by which sellers give variations, which no listing can have."""
NO_VARIATIONS: Final = (
    "a listing has no variations, such as sizes: make a product of each, with its own SKU"
)


def shown_on(
    product: Product, preferences: Preferences, given: Mapping[str, Any]
) -> ProductContent:
    """Return the product's content for the marketplace of the preferences.

    The job's input (`override_price`, `custom_title`, `custom_description`) comes first, then the
    product's override for the marketplace, then the product by the seller's rules.
    """
    override = product.overrides.get(preferences.marketplace, ProductOverride())
    base = product.content
    title, price = title_by(preferences, base.title), price_by(preferences, base.price)
    return replace(
        base,
        title=_first(given.get("custom_title"), override.title, title),
        description=_first(given.get("custom_description"), override.description, base.description),
        price=_first(given.get("override_price"), override.price, price),
        quantity=quantity_by(preferences, base.quantity),
        category_id=_first(override.category_id, base.category_id),
        attributes={**base.attributes, **override.attributes},
        choices={**preferences.choices, **override.choices},
    )


def check(
    content: ProductContent,
    overrides: Mapping[str, ProductOverride],
    marketplaces: Mapping[str, Collection[str]],
) -> None:
    """Raise ValidationFailed with every field that is wrong. `marketplaces`: each with the names of
    its choices."""
    given = {
        "attributes": content.attributes,
        **{f"overrides.{name}.attributes": each.attributes for name, each in overrides.items()},
    }
    fields = [
        problem
        for where, attributes in given.items()
        for problem in (*_unknown_values(where, attributes), *variations_in(where, attributes))
    ]
    if content.currency not in CURRENCIES:
        known = ", ".join(CURRENCIES)
        fields.append(field_error("currency", f"must be one of {known}"))
    fields += [
        field_error(f"overrides.{name}", f"must be one of {', '.join(sorted(marketplaces))}")
        for name in sorted(overrides.keys() - marketplaces.keys())
    ]
    fields += [
        problem
        for name, each in overrides.items()
        for problem in unknown_choices(
            f"overrides.{name}.choices", name, each.choices, marketplaces.get(name, ())
        )
    ]
    if fields:
        raise ValidationFailed("the product has invalid fields", details={"fields": fields})


def variations_in(where: str, given: Iterable[str]) -> list[dict[str, str]]:
    """Return the fields below `where` that ask for variations, each with the reason."""
    return [field_error(f"{where}.{name}", NO_VARIATIONS) for name in sorted(VARIATIONS & {*given})]


def _unknown_values(where: str, attributes: Mapping[str, str]) -> list[dict[str, str]]:
    return [
        field_error(
            f"{where}.{name}",
            f"not of the vocabulary {vocabulary}: see GET /api/product-attributes/{vocabulary}",
        )
        for name, vocabulary in CLOSED.items()
        if name in attributes and attributes[name] not in VOCABULARIES[vocabulary]
    ]


def _first(*values: Any) -> Any:
    return next((each for each in values if each is not None), None)


def made_sku(product_id: str) -> str:
    """Return the SKU of a product for which the seller chose none: letters and digits only, at most
    50, as eBay requires (its error 25707)."""
    return product_id.replace("_", "")
