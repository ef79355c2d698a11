"""Map a product to eBay's terms. Pure."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from spinneret.kernel.errors import field_error
from spinneret.marketplace.ebay.answers import Aspect
from spinneret.marketplace.markup import plain_text, safe_html
from spinneret.marketplace.money import CURRENCIES, decimal_text
from spinneret.marketplace.products.models import ProductContent
from spinneret.marketplace.vocabularies.models import VOCABULARIES, value_of

TITLE_MAX: Final = 80  # eBay: Product.title
IMAGES_MAX: Final = 24  # eBay: Product.imageUrls
DESCRIPTION_MAX: Final = 4000  # eBay: Product.description
CATEGORY_MAP_VERSION: Final = 1

# Our conditions → ConditionEnum.
CONDITIONS: Final[Mapping[str, str]] = {
    "new_with_tags": "NEW",
    "new_without_tags": "NEW_OTHER",
    "very_good": "USED_VERY_GOOD",
    "good": "USED_GOOD",
    "satisfactory": "USED_ACCEPTABLE",
    "for_parts": "FOR_PARTS_OR_NOT_WORKING",
}
_SITE_OF_CURRENCY: Final[Mapping[str, str]] = {
    "AUD": "EBAY_AU",
    "CAD": "EBAY_CA",
    "CHF": "EBAY_CH",
    "EUR": "EBAY_DE",
    "GBP": "EBAY_GB",
    "PLN": "EBAY_PL",
    "USD": "EBAY_US",
}
"""Marketplace for prices in a currency, unless the product names another."""
_LOCALES: Final[Mapping[str, str]] = {
    "EBAY_AT": "de-AT",
    "EBAY_AU": "en-AU",
    "EBAY_CA": "en-CA",
    "EBAY_CH": "de-CH",
    "EBAY_DE": "de-DE",
    "EBAY_ES": "es-ES",
    "EBAY_FR": "fr-FR",
    "EBAY_GB": "en-GB",
    "EBAY_IE": "en-IE",
    "EBAY_IT": "it-IT",
    "EBAY_NL": "nl-NL",
    "EBAY_PL": "pl-PL",
    "EBAY_US": "en-US",
}
SITES: Final = ("EBAY_DE", *sorted(_LOCALES.keys() - {"EBAY_DE"}))
"""Marketplaces, the one of euros first."""
_PAGES: Final[Mapping[str, str]] = {
    "EBAY_GB": "https://www.ebay.co.uk/itm/",
    "EBAY_US": "https://www.ebay.com/itm/",
    "EBAY_AU": "https://www.ebay.com.au/itm/",
}
_ASPECTS: Final[Mapping[str, tuple[str, str]]] = {
    "brand": ("Brand", "brands"),
    "color": ("Colour", "colors"),
    "material": ("Material", "materials"),
    "size": ("Size", "sizes"),
}
"""Attribute → aspect, and the vocabulary of its labels."""
_ATTRIBUTES: Final = {aspect: (name, words) for name, (aspect, words) in _ASPECTS.items()}
_NO_ASPECTS: Final = frozenset({"condition", "category", "marketplace_id", "ean", "mpn"})
_ANSWERED_ONLY: Final = frozenset({"sku", "locale", "groupIds", "inventoryItemGroupKeys"})
_OF_OFFERS: Final = frozenset({"offerId", "sku", "marketplaceId", "format", "listing", "status"})
_OF_STOCK: Final = frozenset({"availableQuantity", "pricingSummary"})
_NO_EAN: Final = "Does not apply"  # required at publish though no aspect says so


def site_of(content: ProductContent) -> str:
    """Return the eBay marketplace of the product."""
    given = content.attributes.get("marketplace_id")
    return given or _SITE_OF_CURRENCY.get(content.currency, "EBAY_US")


def locale_of(site: str) -> str:
    """Return the Content-Language of a marketplace."""
    return _LOCALES.get(site, "en-US")


def page_of(site: str, listing_id: str) -> str:
    """Return the URL of a listing's page."""
    base = _PAGES.get(site, f"https://www.ebay.{site.removeprefix('EBAY_').lower()}/itm/")
    return base + listing_id


def check(content: ProductContent) -> Sequence[Mapping[str, str]]:
    """Return the fields that eBay would refuse, each with its message."""
    found = []
    if len(content.title) > TITLE_MAX:
        found.append(field_error("title", f"eBay accepts at most {TITLE_MAX} characters"))
    if not content.images:
        found.append(field_error("images", "eBay requires at least one image"))
    found += [
        field_error(f"images.{number}", "eBay accepts only https")
        for number, url in enumerate(content.images)
        if not url.startswith("https://")
    ]
    if content.quantity < 1:
        found.append(field_error("quantity", "at least 1 to list it"))
    if "condition" not in content.attributes:
        found.append(field_error("attributes.condition", "eBay requires a condition"))
    if content.currency not in _SITE_OF_CURRENCY:
        found.append(field_error("currency", "no eBay marketplace uses this currency"))
    return found


def aspects_of(content: ProductContent) -> dict[str, list[str]]:
    """Return aspects by eBay's names; attributes that aren't ours keep their own names."""
    found: dict[str, list[str]] = {}
    for name, value in content.attributes.items():
        if name in _NO_ASPECTS:
            continue
        aspect, vocabulary = _ASPECTS.get(name, (name, ""))
        label = VOCABULARIES[vocabulary].get(value, value) if vocabulary else value
        found[aspect] = [label]
    return found


def attributes_of(item: Mapping[str, Any], site: str, currency: str | None) -> dict[str, str]:
    """Return the attributes of an inventory item; the inverse of `aspects_of`. Aspects with several
    values stay at eBay only."""
    product = item.get("product", {})
    found: dict[str, str] = {}
    for aspect, values in _aspects_in(product).items():
        if len(values) != 1:
            continue
        name, vocabulary = _ATTRIBUTES.get(aspect, (aspect, ""))
        value = value_of(vocabulary, values[0]) if vocabulary else values[0]
        found |= {name: value} if value is not None else {aspect: values[0]}
    conditions = {theirs: ours for ours, theirs in CONDITIONS.items()}
    if (condition := conditions.get(item.get("condition", ""))) is not None:
        found["condition"] = condition
    eans = [each for each in product.get("ean") or () if each != _NO_EAN]
    found |= {"ean": eans[0]} if eans else {}
    found |= {"mpn": product["mpn"]} if product.get("mpn") else {}
    return (
        found if _SITE_OF_CURRENCY.get(currency or "") == site else found | {"marketplace_id": site}
    )


def item_of(
    content: ProductContent, images: Sequence[str], standing: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the inventory item: the existing one with our fields over it, since a PUT replaces
    everything."""
    product = dict(standing.get("product", {}))
    product |= {
        "title": content.title,
        "description": plain_text(content.description)[:DESCRIPTION_MAX],
        "imageUrls": list(images),
        "aspects": {**_aspects_in(product), **aspects_of(content)},
    }
    ean = content.attributes.get("ean")
    product["ean"] = [ean] if ean else product.get("ean") or [_NO_EAN]
    if "mpn" in content.attributes:
        product["mpn"] = content.attributes["mpn"]
    availability = dict(standing.get("availability", {}))
    shipping = dict(availability.get("shipToLocationAvailability", {}))
    availability["shipToLocationAvailability"] = {**shipping, "quantity": content.quantity}
    kept = {name: value for name, value in standing.items() if name not in _ANSWERED_ONLY}
    return {
        **kept,
        "product": product,
        "condition": CONDITIONS[content.attributes["condition"]],
        "availability": availability,
    }


def offer_of(
    content: ProductContent, sku: str, category_id: str, account: Mapping[str, str]
) -> dict[str, Any]:
    """Return the wanted offer."""
    return {
        "sku": sku,
        "marketplaceId": site_of(content),
        "format": "FIXED_PRICE",
        "availableQuantity": content.quantity,
        "categoryId": category_id,
        "listingDescription": safe_html(content.description),
        # The default, true, replaces our texts by the catalogue's.
        "includeCatalogProductDetails": False,
        "listingPolicies": {
            "paymentPolicyId": account["payment_policy_id"],
            "fulfillmentPolicyId": account["fulfillment_policy_id"],
            "returnPolicyId": account["return_policy_id"],
        },
        "merchantLocationKey": account["location_key"],
        "pricingSummary": {
            "price": {
                "value": decimal_text(content.price, content.currency),
                "currency": content.currency,
            }
        },
    }


def offer_update(wanted: Mapping[str, Any], standing: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the body that turns the existing offer into the wanted one; None if they agree. Terms
    and prices that others set are resent."""
    changed = {name: _over(standing, wanted, name) for name in wanted}
    if all(standing.get(name) == value for name, value in changed.items()):
        return None
    merged = {**standing, **changed}
    return {name: value for name, value in merged.items() if name not in _OF_OFFERS}


def _over(standing: Mapping[str, Any], wanted: Mapping[str, Any], name: str) -> Any:
    """Return our value of a field over the existing one; an equal price stays as eBay spells it."""
    ours, theirs = wanted[name], standing.get(name)
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return ours
    if name == "pricingSummary" and price_of(theirs) == ours["price"]:
        return theirs
    return {**theirs, **ours}


def price_of(pricing: Mapping[str, Any]) -> dict[str, Any]:
    """Return the price of an offer's `pricingSummary` with the digits of its currency: eBay may
    spell 20.00 as 20.0."""
    price = pricing.get("price") or {}
    value, currency = price.get("value"), price.get("currency")
    digits = CURRENCIES.get(str(currency))
    if digits is not None:
        with suppress(InvalidOperation):
            value = str(Decimal(str(value)).quantize(Decimal(1).scaleb(-digits)))
    return {"value": value, "currency": currency}


def is_same_item(wanted: Mapping[str, Any], standing: Mapping[str, Any]) -> bool:
    """Return whether a PUT would change nothing."""
    kept = {name: value for name, value in standing.items() if name not in _ANSWERED_ONLY}
    return dict(wanted) == kept


def price_quantity(
    item: Mapping[str, Any],
    standing_item: Mapping[str, Any],
    offer: Mapping[str, Any],
    standing_offer: Mapping[str, Any],
) -> dict[str, Any] | None:
    """Return the update of a listing's price and quantity; {} if both are current.

    Return None if more than these differs, or if the offer isn't published: eBay accepts this
    update for published offers only. The whole container of the quantity is sent each time, or eBay
    forgets it (its description of `shipToLocationAvailability.quantity`).
    """
    if standing_offer.get("status") != "PUBLISHED":
        return None
    shipping = item["availability"]["shipToLocationAvailability"]
    with_ours = {**standing_item, "availability": item["availability"]}
    others = [name for name in offer if name not in _OF_STOCK]
    if not is_same_item(item, with_ours) or any(
        standing_offer.get(name) != _over(standing_offer, offer, name) for name in others
    ):
        return None
    if is_same_item(item, standing_item) and offer_update(offer, standing_offer) is None:
        return {}
    ours = {
        "offerId": standing_offer["offerId"],
        "availableQuantity": offer["availableQuantity"],
        "price": offer["pricingSummary"]["price"],
    }
    return {"sku": offer["sku"], "shipToLocationAvailability": shipping, "offers": [ours]}


def missing_aspects(aspects: Sequence[Aspect], content: ProductContent) -> list[str]:
    """Return the names of aspects that the category requires and the product lacks."""
    given = {name.casefold() for name in aspects_of(content)}
    return [
        aspect["localizedAspectName"]
        for aspect in aspects
        if aspect.get("aspectConstraint", {}).get("aspectRequired")
        and aspect["localizedAspectName"].casefold() not in given
        and not _is_colour(aspect, given)
    ]


def _is_colour(aspect: Aspect, given: set[str]) -> bool:
    """Return whether the aspect is `Color` and the product has `Colour`."""
    return aspect["localizedAspectName"].casefold() == "color" and "colour" in given


def _aspects_in(product: Mapping[str, Any]) -> dict[str, Any]:
    found = product.get("aspects")
    return dict(found) if isinstance(found, dict) else {}
