"""Shapes of Etsy's responses: the fields that are read. Each response is validated by one."""

from typing import NotRequired, TypedDict

from pydantic import ConfigDict, with_config

from spinneret.marketplace.calls.models import Id

_KEEPING = ConfigDict(extra="allow")


class ErrorText(TypedDict):
    """Body of an error."""

    error: str
    error_description: NotRequired[str]


class Results[T](TypedDict):
    """List of a shop's or a listing's things."""

    results: list[T]


class Shop(TypedDict):
    """A seller's shop."""

    shop_id: Id
    currency_code: NotRequired[str]


class ShippingProfile(TypedDict):
    """Shipping profile of a shop."""

    shipping_profile_id: int
    title: NotRequired[str | None]


class ReturnPolicy(TypedDict):
    """Return policy of a shop."""

    return_policy_id: int
    accepts_returns: NotRequired[bool]
    accepts_exchanges: NotRequired[bool]
    return_deadline: NotRequired[int | None]


class ShopSection(TypedDict):
    """Section of a shop."""

    shop_section_id: int
    title: NotRequired[str]


class ReadinessState(TypedDict):
    """Processing profile of a shop."""

    readiness_state_id: int


class Money(TypedDict):
    """Amount of money."""

    amount: int
    divisor: int
    currency_code: NotRequired[str]


class Image(TypedDict):
    """Image of a listing."""

    listing_image_id: Id
    rank: NotRequired[int | None]
    alt_text: NotRequired[str | None]
    url_fullxfull: NotRequired[str | None]


@with_config(_KEEPING)
class ShopListing(TypedDict):
    """Listing of a shop."""

    listing_id: Id
    state: str
    title: NotRequired[str | None]
    description: NotRequired[str | None]
    url: NotRequired[str | None]
    quantity: NotRequired[int | None]
    price: NotRequired[Money | None]
    created_timestamp: NotRequired[int | None]
    original_creation_timestamp: NotRequired[int | None]
    has_variations: NotRequired[bool | None]
    taxonomy_id: NotRequired[int | None]
    who_made: NotRequired[str | None]
    when_made: NotRequired[str | None]
    tags: NotRequired[list[str] | None]
    skus: NotRequired[list[str] | None]
    images: NotRequired[list[Image] | None]


class ShopListings(TypedDict):
    """Page of a shop's listings."""

    count: int
    results: list[ShopListing]


class Offering(TypedDict):
    """Price and quantity of a product."""

    quantity: NotRequired[int]
    price: NotRequired[Money]


class InventoryProduct(TypedDict):
    """Product of a listing."""

    sku: NotRequired[str | None]
    offerings: list[Offering]


class Inventory(TypedDict):
    """Product set of a listing."""

    products: list[InventoryProduct]


class Transaction(TypedDict):
    """Line of an order."""

    transaction_id: Id
    listing_id: NotRequired[Id | None]
    sku: NotRequired[str | None]
    quantity: NotRequired[int]


class Receipt(TypedDict):
    """Order of a buyer."""

    receipt_id: Id
    created_timestamp: NotRequired[int]
    status: NotRequired[str]
    is_paid: NotRequired[bool]
    transactions: list[Transaction]


class Receipts(TypedDict):
    """Page of orders."""

    count: int
    results: list[Receipt]
