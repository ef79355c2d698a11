"""Shapes of eBay's responses: the fields that are read. Each response is validated by one.

Items and offers keep the fields that aren't read, because a PUT has to send them back.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import ConfigDict, Field, with_config

from spinneret.marketplace.calls.models import Id

_KEEPING = ConfigDict(extra="allow")


class ErrorParameter(TypedDict):
    """Fact about an error."""

    name: NotRequired[str]
    value: NotRequired[Id]


class ErrorDetail(TypedDict):
    """One error of a response."""

    errorId: NotRequired[Id]
    message: NotRequired[str]
    longMessage: NotRequired[str]
    parameters: NotRequired[list[ErrorParameter]]


class Errors(TypedDict):
    """Body of an error."""

    errors: list[ErrorDetail]


class Done(TypedDict):
    """Body of a success that may have warnings only."""

    warnings: NotRequired[list[Any]]


@with_config(_KEEPING)
class Item(TypedDict):
    """Inventory item."""

    sku: Id
    product: NotRequired[dict[str, Any]]
    availability: NotRequired[dict[str, Any]]


class Items(TypedDict):
    """Page of inventory items; a seller without any may get their number alone."""

    inventoryItems: NotRequired[list[Item]]
    total: NotRequired[int]
    next: NotRequired[str]


class ListingDetails(TypedDict):
    """Listing of an offer."""

    listingId: NotRequired[Id]


@with_config(_KEEPING)
class Offer(TypedDict):
    """Offer of a SKU on a marketplace."""

    offerId: Id
    sku: Id
    marketplaceId: str
    status: str
    listing: NotRequired[ListingDetails]
    pricingSummary: NotRequired[dict[str, Any]]


class Offers(TypedDict):
    """Offers of a SKU."""

    offers: list[Offer]


class CreatedOffer(TypedDict):
    """Id of an offer."""

    offerId: Id


class ListingNamed(TypedDict):
    """Id of a listing that was published or withdrawn."""

    listingId: Id


class UpdatedPart(TypedDict):
    """Result of a bulk update for one offer."""

    statusCode: int
    offerId: NotRequired[Id]
    errors: NotRequired[list[ErrorDetail]]


class UpdatedParts(TypedDict):
    """Results of a bulk update."""

    responses: list[UpdatedPart]


class Fees(TypedDict):
    """Costs of publishing, by marketplace."""

    feeSummaries: list[dict[str, Any]]


class Location(TypedDict):
    """Inventory location."""

    merchantLocationKey: Id
    merchantLocationStatus: NotRequired[str]
    name: NotRequired[str]


class Locations(TypedDict):
    """Page of locations; a seller without any may get their number alone."""

    locations: NotRequired[list[Location]]
    total: NotRequired[int]


class PaymentPolicy(TypedDict):
    """Payment policy."""

    paymentPolicyId: Id
    name: NotRequired[str]


class PaymentPolicies(TypedDict):
    """Payment policies of a seller."""

    paymentPolicies: list[PaymentPolicy]


class FulfillmentPolicy(TypedDict):
    """Shipping policy."""

    fulfillmentPolicyId: Id
    name: NotRequired[str]


class FulfillmentPolicies(TypedDict):
    """Shipping policies of a seller."""

    fulfillmentPolicies: list[FulfillmentPolicy]


class ReturnPolicy(TypedDict):
    """Return policy."""

    returnPolicyId: Id
    name: NotRequired[str]


class ReturnPolicies(TypedDict):
    """Return policies of a seller."""

    returnPolicies: list[ReturnPolicy]


class Programme(TypedDict):
    """Programme that a seller has joined."""

    programType: str


class Programmes(TypedDict):
    """Programmes of a seller."""

    programs: list[Programme]


class Tree(TypedDict):
    """Category tree of a marketplace."""

    categoryTreeId: Id


class Category(TypedDict):
    """Leaf category."""

    categoryId: Id


class Suggestion(TypedDict):
    """Suggested category."""

    category: Category


class Suggestions(TypedDict):
    """Categories suggested for a title."""

    categorySuggestions: list[Suggestion]


class AspectConstraint(TypedDict):
    """Rules of an aspect."""

    aspectRequired: NotRequired[bool]


class Aspect(TypedDict):
    """Aspect of a category."""

    localizedAspectName: str
    aspectConstraint: NotRequired[AspectConstraint]


class Aspects(TypedDict):
    """Aspects of a category."""

    aspects: list[Aspect]


class ViolationSummary(TypedDict):
    """Number of listings that violate one compliance type."""

    complianceType: str
    marketplaceId: NotRequired[str]
    listingCount: NotRequired[int]


class ViolationSummaries(TypedDict):
    """Numbers of listings by compliance type."""

    violationSummaries: list[ViolationSummary]


class ViolationData(TypedDict):
    """Affected aspect."""

    name: NotRequired[str]


class AspectAdvice(TypedDict):
    """Suggested values of an aspect."""

    localizedAspectName: str
    suggestedValues: NotRequired[list[str]]


class Advice(TypedDict):
    """Suggested corrections."""

    aspectRecommendations: NotRequired[list[AspectAdvice]]


class Violation(TypedDict):
    """Violation of one listing."""

    reasonCode: NotRequired[str]
    complianceState: NotRequired[str]
    message: NotRequired[str]
    violationData: NotRequired[list[ViolationData]]
    correctiveRecommendations: NotRequired[Advice]


class ListingViolations(TypedDict):
    """Violations of one listing."""

    listingId: Id
    violations: NotRequired[list[Violation]]


class ViolationPage(TypedDict):
    """Page of listings with violations."""

    listingViolations: list[ListingViolations]
    total: int


class Image(TypedDict):
    """eBay's copy of an image."""

    imageUrl: Annotated[str, Field(min_length=1)]


class LineItem(TypedDict):
    """Line of an order."""

    lineItemId: Id
    legacyItemId: NotRequired[Id | None]
    """Id of the listing."""
    sku: NotRequired[str]
    quantity: NotRequired[int]


class CancelStatus(TypedDict):
    """State of an order's cancellation."""

    cancelState: NotRequired[str]


class Order(TypedDict):
    """Order of a buyer."""

    orderId: Id
    creationDate: NotRequired[str]
    cancelStatus: NotRequired[CancelStatus]
    orderPaymentStatus: NotRequired[str]
    lineItems: list[LineItem]


class Orders(TypedDict):
    """Page of orders."""

    orders: list[Order]
    total: int


class SentMessage(TypedDict):
    """Message that was sent."""

    messageId: Id


class ShownMessage(TypedDict):
    """Message of a conversation."""

    messageId: NotRequired[Id]
    messageBody: NotRequired[str]
    createdDate: NotRequired[str]


class Conversation(TypedDict):
    """Messages of a conversation."""

    messages: list[ShownMessage]
