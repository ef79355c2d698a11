"""eBay's real behaviour: full replacement, one offer per SKU, site and format, 411 without a body.

A listing gets a new id after a withdrawal. Stateful; contains no code and no texts of eBay.
"""

import base64
import itertools
import re
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

from spinneret.marketplace.ebay.platform import EBAY
from tests.markets.web import RecordedRequest, StubResponse

SITE = "EBAY_DE"
KEYS = {"client_id": "ebay-id", "client_secret": "ebay-secret", "redirect_uri": "Our_RuName"}
_ANSWERED_ONLY = ("listing", "status", "offerId")
_SCOPE = "https://api.ebay.com/oauth/api_scope"
SCOPES: dict[str, tuple[bool, frozenset[str]]] = {
    "/commerce/taxonomy/v1/": (True, frozenset({_SCOPE})),
    "/commerce/media/v1_beta/": (False, frozenset({f"{_SCOPE}/sell.inventory"})),
    "/commerce/message/v1/": (False, frozenset({f"{_SCOPE}/commerce.message"})),
    "/sell/account/v1/": (
        False,
        frozenset({f"{_SCOPE}/sell.account", f"{_SCOPE}/sell.account.readonly"}),
    ),
    "/sell/compliance/v1/": (False, frozenset({f"{_SCOPE}/sell.inventory"})),
    "/sell/fulfillment/v1/": (
        False,
        frozenset({f"{_SCOPE}/sell.fulfillment", f"{_SCOPE}/sell.fulfillment.readonly"}),
    ),
    "/sell/inventory/v1/": (False, frozenset({f"{_SCOPE}/sell.inventory"})),
}
"""Prefix of paths → the token and scopes that they need.

The boolean is true for the application's own token, else it is a seller's. One of the scopes
suffices.
"""


class FakeEbay:
    """eBay, with one seller."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.items: dict[str, dict[str, Any]] = {}
        self.offers: dict[str, dict[str, Any]] = {}
        self.listings: dict[str, str] = {}
        """Id of each live listing → its offer's id."""
        self.ended: list[str] = []
        self.images: dict[str, str] = {}
        self.orders: list[dict[str, Any]] = []
        self.messages: list[dict[str, Any]] = []
        self.required_aspects: list[str] = ["Brand"]
        self.preferred_aspects: dict[str, list[str]] = {}
        """Name of an aspect → values that eBay suggests."""
        self.policies = {"payment": ["pay-1"], "fulfillment": ["ship-1"], "return": ["back-1"]}
        self.locations = ["store-1"]
        self.tokens = {"access-0"}
        self.consented = frozenset(EBAY.app.scopes if EBAY.app is not None else ())
        """Scopes to which the seller has consented."""
        self.application: dict[str, frozenset[str]] = {}
        """The application's own tokens → their scopes."""
        self.grants: Counter[str] = Counter()
        """Number of token requests by grant type."""
        self.refresh_token = "refresh-0"
        self.revoked = False
        self.refused_prices: set[str] = set()
        self.revisions: Counter[str] = Counter()
        """Number of revisions by listing."""
        self.refused_images = 0
        """Number of further publish calls that refuse the images."""
        self.refused_titles: dict[str, int] = {}
        """Title → error id with which publishing fails."""
        self.refused_categories: dict[str, int] = {}
        """Category → error id with which publishing fails."""
        self.calls: Counter[str] = Counter()
        self._numbers = itertools.count(1)
        self._routes: list[tuple[str, str, Callable[..., StubResponse]]] = [
            ("POST", r"/identity/v1/oauth2/token", self._token),
            ("POST", r"/identity/v1/oauth2/revoke", self._revoke),
            ("GET", r"/sell/account/v1/program/get_opted_in_programs", self._programs),
            ("GET", r"/sell/account/v1/(payment|fulfillment|return)_policy", self._policies),
            ("GET", r"/sell/inventory/v1/location", self._locations),
            ("GET", r"/commerce/taxonomy/v1/get_default_category_tree_id", self._tree),
            (
                "GET",
                r"/commerce/taxonomy/v1/category_tree/(\w+)/get_category_suggestions",
                self._suggest,
            ),
            (
                "GET",
                r"/commerce/taxonomy/v1/category_tree/(\w+)/get_item_aspects_for_category",
                self._aspects,
            ),
            ("POST", r"/commerce/media/v1_beta/image/create_image_from_url", self._make_image),
            ("GET", r"/commerce/media/v1_beta/image/(\w+)", self._image),
            ("GET", r"/sell/inventory/v1/inventory_item/([^/]+)", self._item),
            ("PUT", r"/sell/inventory/v1/inventory_item/([^/]+)", self._put_item),
            ("GET", r"/sell/inventory/v1/inventory_item", self._page_of_items),
            ("POST", r"/sell/inventory/v1/bulk_update_price_quantity", self._update_stock),
            ("GET", r"/sell/inventory/v1/offer", self._find_offers),
            ("POST", r"/sell/inventory/v1/offer", self._make_offer),
            ("POST", r"/sell/inventory/v1/offer/get_listing_fees", self._fees),
            ("GET", r"/sell/inventory/v1/offer/(\w+)", self._offer),
            ("PUT", r"/sell/inventory/v1/offer/(\w+)", self._put_offer),
            ("POST", r"/sell/inventory/v1/offer/(\w+)/publish", self._publish),
            ("POST", r"/sell/inventory/v1/offer/(\w+)/withdraw", self._withdraw),
            ("GET", r"/sell/compliance/v1/listing_violation_summary", self._violated),
            ("GET", r"/sell/compliance/v1/listing_violation", self._violations),
            ("GET", r"/sell/fulfillment/v1/order", self._orders),
            ("POST", r"/commerce/message/v1/send_message", self._send),
            ("GET", r"/commerce/message/v1/conversation/(\w+)", self._conversation),
        ]

    def serve(self, seen: RecordedRequest) -> StubResponse:
        for method, pattern, answer in self._routes:
            found = re.fullmatch(pattern, seen.path)
            if found and method == seen.method:
                self.calls[answer.__name__] += 1
                if not seen.path.startswith("/identity"):
                    if not self._known(seen):
                        return _error(401, 1001, "Invalid access token")
                    if not self._allowed(seen):
                        return _error(403, 1100, "Insufficient permissions to fulfill the request")
                if seen.method == "POST" and not seen.body:
                    return StubResponse(411)
                return answer(seen, *found.groups())
        return StubResponse(404, {"errors": []})

    def live(self, sku: str) -> list[str]:
        """Return the live listings of a SKU."""
        return [
            listing for listing, offer in self.listings.items() if self.offers[offer]["sku"] == sku
        ]

    def sell(self, sku: str, order_id: str, quantity: int = 1) -> None:
        """Sell an item to a buyer."""
        line = {"lineItemId": f"{order_id}-1", "sku": sku, "quantity": quantity}
        at = self.clock().strftime("%Y-%m-%dT%H:%M:%S.000Z")
        self.orders.append({"orderId": order_id, "creationDate": at, "lineItems": [line]})

    def _known(self, seen: RecordedRequest) -> bool:
        return _token_of(seen) in self.tokens or _token_of(seen) in self.application

    def _allowed(self, seen: RecordedRequest) -> bool:
        is_public, scopes = next(
            each for start, each in SCOPES.items() if seen.path.startswith(start)
        )
        granted = self.application.get(_token_of(seen))
        if is_public:
            return granted is not None and bool(granted & scopes)
        return granted is None and bool(self.consented & scopes)

    def _token(self, seen: RecordedRequest) -> StubResponse:
        pair = base64.b64encode(f"{KEYS['client_id']}:{KEYS['client_secret']}".encode()).decode()
        if seen.headers.get("authorization") != f"Basic {pair}":
            return StubResponse(401, {"error": "invalid_client"})
        form = {name: values[0] for name, values in seen.form.items()}
        self.grants[form["grant_type"]] += 1
        if form["grant_type"] == "client_credentials":
            token = f"application-{next(self._numbers)}"
            self.application[token] = frozenset(form["scope"].split())
            return StubResponse(200, {"access_token": token, "expires_in": 7200})
        if not set(form.get("scope", "").split()) <= self.consented:
            return StubResponse(400, {"error": "invalid_scope"})
        if form["grant_type"] == "refresh_token" and (
            self.revoked or form["refresh_token"] != self.refresh_token
        ):
            return StubResponse(400, {"error": "invalid_grant"})
        token = f"access-{next(self._numbers)}"
        self.tokens = {token}
        data: dict[str, Any] = {"access_token": token, "expires_in": 7200, "token_type": "User"}
        if form["grant_type"] == "authorization_code":
            data |= {"refresh_token": self.refresh_token, "refresh_token_expires_in": 47304000}
        return StubResponse(200, data)

    def _revoke(self, _: RecordedRequest) -> StubResponse:
        self.revoked = True
        self.tokens = set()
        return StubResponse(200, {})

    def _programs(self, _: RecordedRequest) -> StubResponse:
        return StubResponse(200, {"programs": [{"programType": "SELLING_POLICY_MANAGEMENT"}]})

    def _policies(self, _: RecordedRequest, kind: str) -> StubResponse:
        found = [{f"{kind}PolicyId": each, "name": f"my {each}"} for each in self.policies[kind]]
        return StubResponse(200, {f"{kind}Policies": found})

    def _locations(self, _: RecordedRequest) -> StubResponse:
        found = [
            {"merchantLocationKey": each, "merchantLocationStatus": "ENABLED"}
            for each in self.locations
        ]
        return StubResponse(200, {"locations": found, "total": len(found)})

    def _tree(self, _: RecordedRequest) -> StubResponse:
        return StubResponse(200, {"categoryTreeId": "77", "categoryTreeVersion": "1"})

    def _suggest(self, _: RecordedRequest, __: str) -> StubResponse:
        return StubResponse(200, {"categorySuggestions": [{"category": {"categoryId": "57988"}}]})

    def _aspects(self, _: RecordedRequest, __: str) -> StubResponse:
        aspects = [
            {"localizedAspectName": name, "aspectConstraint": {"aspectRequired": True}}
            for name in self.required_aspects
        ]
        return StubResponse(200, {"aspects": aspects})

    def _make_image(self, seen: RecordedRequest) -> StubResponse:
        url = seen.json["imageUrl"]
        if not url.startswith("https://"):
            return _error(400, 190204, "No valid image")
        image = f"img{next(self._numbers)}"
        self.images[image] = f"https://i.ebayimg.example/{image}.jpg"
        place = f"https://apim.ebay.com/commerce/media/v1_beta/image/{image}"
        return StubResponse(201, None, {"Location": place})

    def _image(self, _: RecordedRequest, image: str) -> StubResponse:
        return StubResponse(200, {"imageUrl": self.images[image], "expirationDate": "2026-12-31"})

    def _item(self, _: RecordedRequest, sku: str) -> StubResponse:
        if sku not in self.items:
            return _error(404, 25710, "not found")
        own = {"sku": sku, "locale": "de_DE", "groupIds": []}
        return StubResponse(200, own | self.items[sku])

    def _page_of_items(self, seen: RecordedRequest) -> StubResponse:
        """Return a page of items; `offset` is the number of the page."""
        number, limit = int(seen.query["offset"][0]), int(seen.query["limit"][0])
        own = [
            {"sku": sku, "locale": "de_DE", "groupIds": []} | item
            for sku, item in sorted(self.items.items())
        ]
        pages = [own[start : start + limit] for start in range(0, len(own), limit)]
        found = {"inventoryItems": pages[number] if pages else [], "total": len(own)}
        if number + 1 < len(pages):
            found["next"] = f"{seen.path}?limit={limit}&offset={number + 1}"
        return StubResponse(200, {**found, "href": seen.path, "limit": limit, "size": len(pages)})

    def list_by_hand(self, listing_id: str, sku: str, **fields: Any) -> None:
        """Create a listing that the seller made with another program."""
        product = {"title": sku, "description": "d", "imageUrls": ["https://i.example/1.jpg"]}
        product |= fields.pop("product", {})
        item = {"product": product, "condition": "USED_GOOD", **fields.pop("item", {})}
        self.items[sku] = item
        price = {"value": "25.00", "currency": "EUR"}
        offer: dict[str, Any] = {"sku": sku, "marketplaceId": SITE, "format": "FIXED_PRICE"}
        offer |= {"categoryId": "57988"}
        offer |= {"availableQuantity": 2, "pricingSummary": {"price": price}, **fields}
        offer |= {"offerId": f"off{listing_id}", "status": "PUBLISHED"}
        self.offers[offer["offerId"]] = offer | {"listing": {"listingId": listing_id}}
        self.listings[listing_id] = offer["offerId"]

    def list_elsewhere(self, listing_id: str, site: str) -> None:
        """List the same item on another marketplace."""
        name = f"{listing_id}{site}"
        offer = self.offers[self.listings[listing_id]] | {"marketplaceId": site}
        offer |= {"offerId": f"off{name}", "listing": {"listingId": name}}
        self.offers[offer["offerId"]] = offer
        self.listings[name] = offer["offerId"]

    def _put_item(self, seen: RecordedRequest, sku: str) -> StubResponse:
        if "content-language" not in seen.headers:
            return _error(400, 25709, "Invalid value for header Content-Language.")
        known = sku in self.items
        self.items[sku] = seen.json  # replaces the whole item: fields that aren't sent are removed
        self.revisions.update(self.live(sku))
        return StubResponse(204 if known else 201, None if known else {"warnings": []})

    def _listed(self, offer_id: str) -> list[str]:
        return [listing for listing, offer in self.listings.items() if offer == offer_id]

    def _update_stock(self, seen: RecordedRequest) -> StubResponse:
        [*requests] = seen.json["requests"]
        if len(requests) != 1:
            return _error(400, 25709, "Only one SKU can be updated per call.")
        [wanted] = requests
        sku, offers = wanted["sku"], wanted.get("offers", [])
        if len({each["offerId"] for each in offers}) != len(offers) or len(offers) > 25:
            return _error(400, 25709, "Invalid value for offers.")
        if sku not in self.items:
            return _error(404, 25702, "SKU is not available")
        if "shipToLocationAvailability" in wanted:  # replaces the whole field, too
            stock = wanted["shipToLocationAvailability"]
            self.items[sku].setdefault("availability", {})["shipToLocationAvailability"] = stock
        parts = [self._update_offer(sku, each) for each in offers]
        self.revisions.update(self.live(sku))
        whole = all(part["statusCode"] == 200 for part in parts)
        return StubResponse(200 if whole else 207, {"responses": parts})

    def _update_offer(self, sku: str, wanted: dict[str, Any]) -> dict[str, Any]:
        offer = self.offers.get(wanted["offerId"])
        part = {"offerId": wanted["offerId"], "sku": sku}
        if offer is None or offer["sku"] != sku:
            return {**part, **_part(404, 25713, "This Offer is not available.")}
        if offer["status"] != "PUBLISHED":
            return {**part, **_part(400, 25002, "The offer isn't published.")}
        if wanted["price"]["value"] in self.refused_prices:
            return {**part, **_part(400, 25003, "Invalid price.")}
        offer["availableQuantity"] = wanted["availableQuantity"]
        offer["pricingSummary"]["price"] = wanted["price"]
        return {**part, "statusCode": 200, "warnings": []}

    def _find_offers(self, seen: RecordedRequest) -> StubResponse:
        sku, sites = seen.query["sku"][0], seen.query.get("marketplace_id")
        found = [
            offer
            for offer in self.offers.values()
            if offer["sku"] == sku and (sites is None or offer["marketplaceId"] in sites)
        ]
        if not found:
            return _error(404, 25713, "This Offer is not available.")
        return StubResponse(200, {"offers": found, "total": len(found)})

    def _make_offer(self, seen: RecordedRequest) -> StubResponse:
        wanted = seen.json
        if wanted["sku"] not in self.items:
            return _error(400, 25702, "SKU is not available")
        for offer in self.offers.values():
            if all(offer[name] == wanted[name] for name in ("sku", "marketplaceId", "format")):
                named = [{"name": "offerId", "value": offer["offerId"]}]
                return _error(400, 25002, "Offer entity already exists.", named)
        offer_id = f"off{next(self._numbers)}"
        self.offers[offer_id] = {**wanted, "offerId": offer_id, "status": "UNPUBLISHED"}
        return StubResponse(201, {"offerId": offer_id})

    def _offer(self, _: RecordedRequest, offer_id: str) -> StubResponse:
        if offer_id not in self.offers:
            return _error(404, 25713, "This Offer is not available.")
        return StubResponse(200, self.offers[offer_id])

    def _put_offer(self, seen: RecordedRequest, offer_id: str) -> StubResponse:
        former = self.offers.get(offer_id)
        if former is None:
            return _error(404, 25713, "This Offer is not available.")
        kept = {
            name: former[name]
            for name in ("sku", "marketplaceId", "format", *_ANSWERED_ONLY)
            if name in former
        }
        self.offers[offer_id] = {**seen.json, **kept}
        self.revisions.update(self._listed(offer_id))
        return StubResponse(200, {"offerId": offer_id})

    def _publish(self, _: RecordedRequest, offer_id: str) -> StubResponse:
        offer = self.offers.get(offer_id)
        if offer is None:
            return _error(404, 25713, "This Offer is not available.")
        if offer["status"] == "PUBLISHED":
            warning = {"errorId": 25402, "message": "published already", "category": "Application"}
            return StubResponse(
                200, {"listingId": offer["listing"]["listingId"], "warnings": [warning]}
            )
        product = self.items[offer["sku"]]["product"]
        refused = self.refused_titles.get(product["title"]) or self.refused_categories.get(
            offer.get("categoryId", "")
        )
        if refused:
            return _error(400, refused, "Invalid category.")
        if (refusal := self._wrong(offer)) is not None:
            return refusal
        missing = [name for name in self.required_aspects if name not in product["aspects"]]
        if missing or not product.get("ean"):
            return _error(400, 25002, "A user error has occurred. The item specific is missing.")
        listing_id = f"1100{next(self._numbers):08}"
        offer["status"] = "PUBLISHED"
        offer["listing"] = {"listingId": listing_id, "listingStatus": "ACTIVE"}
        self.listings[listing_id] = offer_id
        return StubResponse(200, {"listingId": listing_id, "warnings": []})

    def _wrong(self, offer: dict[str, Any]) -> StubResponse | None:
        if self.refused_images:
            self.refused_images -= 1
            return _error(400, 25014, "Invalid pictures.")
        policies = offer.get("listingPolicies", {})
        if policies.get("paymentPolicyId") not in self.policies["payment"]:
            return _error(400, 25008, "Invalid payment policy information.")
        if not policies.get("returnPolicyId"):
            return _error(400, 25009, "Invalid Return policy information.")
        return None

    def _withdraw(self, _: RecordedRequest, offer_id: str) -> StubResponse:
        offer = self.offers[offer_id]
        if offer["status"] != "PUBLISHED":
            return _error(400, 25002, "not published")
        listing_id = offer.pop("listing")["listingId"]
        offer["status"] = "UNPUBLISHED"
        del self.listings[listing_id]
        self.ended.append(listing_id)
        return StubResponse(200, {"listingId": listing_id})

    def _fees(self, _: RecordedRequest) -> StubResponse:
        fee = {"amount": {"currency": "EUR", "value": "0.35"}, "feeType": "INSERTION_FEE"}
        return StubResponse(200, {"feeSummaries": [{"marketplaceId": SITE, "fees": [fee]}]})

    def _broken(self) -> dict[str, list[dict[str, Any]]]:
        """Return the live listings with violations, by compliance type."""
        found: dict[str, list[dict[str, Any]]] = {}
        for listing_id, offer_id in self.listings.items():
            offer = self.offers[offer_id]
            listing = {"listingId": listing_id, "sku": offer["sku"]}
            given = self.items[offer["sku"]]["product"]["aspects"]
            missing = {
                name: values for name, values in self.preferred_aspects.items() if name not in given
            }
            if missing:
                violation = {
                    "reasonCode": "MISSING_OR_INVALID_PREFERRED_ASPECTS",
                    "complianceState": "AT_RISK",
                    "message": "Listing has missing or invalid preferred item specifics.",
                    "violationData": [{"name": name} for name in missing],
                    "correctiveRecommendations": {
                        "aspectRecommendations": [
                            {"localizedAspectName": name, "suggestedValues": values}
                            for name, values in missing.items()
                        ]
                    },
                }
                found.setdefault("ASPECTS_ADOPTION", []).append(
                    {**listing, "complianceType": "ASPECTS_ADOPTION", "violations": [violation]}
                )
            if "http://" in offer["listingDescription"]:
                violation = {
                    "reasonCode": "NON_SECURE_HTTP_LINK_IN_LISTING",
                    "message": "There is a non-secure HTTP link in the description.",
                }  # eBay omits the state of most such violations
                found.setdefault("HTTPS", []).append(
                    {**listing, "complianceType": "HTTPS", "violations": [violation]}
                )
        return found

    def _violated(self, _: RecordedRequest) -> StubResponse:
        found = [
            {"complianceType": kind, "marketplaceId": SITE, "listingCount": len(listings)}
            for kind, listings in self._broken().items()
        ]
        # The response counts all marketplaces, even if the header names one.
        elsewhere = {"complianceType": "HTTPS", "marketplaceId": "EBAY_GB", "listingCount": 3}
        return (
            StubResponse(200, {"violationSummaries": [*found, elsewhere]})
            if found
            else StubResponse(204)
        )

    def _violations(self, seen: RecordedRequest) -> StubResponse:
        if "x-ebay-c-marketplace-id" not in seen.headers:
            return _error(400, 850102, "Marketplace ID is missing")
        if "compliance_type" not in seen.query:
            return _error(400, 850111, "Compliance type is missing")
        found = self._broken().get(seen.query["compliance_type"][0], [])
        offset, limit = int(seen.query["offset"][0]), min(200, int(seen.query["limit"][0]))
        page = found[offset : offset + limit]
        if not page:
            return StubResponse(204)
        return StubResponse(200, {"listingViolations": page, "total": len(found), "limit": limit})

    def _orders(self, seen: RecordedRequest) -> StubResponse:
        begin = seen.query["filter"][0].partition("[")[2].partition("..")[0]
        changed = [order for order in self.orders if order["creationDate"] >= begin]
        offset = int(seen.query["offset"][0])
        return StubResponse(200, {"orders": changed[offset : offset + 50], "total": len(changed)})

    def _send(self, seen: RecordedRequest) -> StubResponse:
        message = {
            "messageId": f"msg{next(self._numbers)}",
            "messageBody": seen.json["messageText"],
            "createdDate": self.clock().strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        self.messages.append(message)
        return StubResponse(200, message)

    def _conversation(self, _: RecordedRequest, __: str) -> StubResponse:
        return StubResponse(200, {"messages": self.messages})


def _token_of(seen: RecordedRequest) -> str:
    return seen.headers.get("authorization", "").removeprefix("Bearer ")


def _error(status: int, number: int, text: str, parameters: Any = ()) -> StubResponse:
    return StubResponse(status, {"errors": [_reason(number, text, parameters)]})


def _part(status: int, number: int, text: str) -> dict[str, Any]:
    return {"statusCode": status, "errors": [_reason(number, text)]}


def _reason(number: int, text: str, parameters: Any = ()) -> dict[str, Any]:
    return {
        "errorId": number,
        "domain": "API",
        "category": "REQUEST",
        "message": text,
        "parameters": list(parameters),
    }
