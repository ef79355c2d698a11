"""Client of eBay's APIs, one method per operation; results are plain values."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import MarketplaceUnavailable
from spinneret.kernel.service import service
from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest, json_body, segment
from spinneret.marketplace.calls.service import LATER, SellerApiClient
from spinneret.marketplace.ebay import answers
from spinneret.marketplace.ebay.errors import names_errors, parameter, part_refusal, refusal
from spinneret.marketplace.limits import IMPORT_PAGE
from spinneret.marketplace.publishing.choices import Option

API: Final = "ebay.api"
MEDIA: Final = "ebay.media"
_INVENTORY: Final = "/sell/inventory/v1"
PRICE_QUANTITY: Final = f"{_INVENTORY}/bulk_update_price_quantity"
_ACCOUNT: Final = "/sell/account/v1"
_TAXONOMY: Final = "/commerce/taxonomy/v1"
_COMPLIANCE: Final = "/sell/compliance/v1"
_VIOLATIONS_PAGE: Final = 200  # maximum page size of getListingViolations
_VIOLATIONS_MAX: Final = 2000  # maximum number of violations in all pages
_OFFER_EXISTS: Final = "25002"
_NO_CONTENT: Final = 204


@service
class EbayApi:
    """Client of eBay for one seller. Every method raises MarketplaceRefused with eBay's reasons,
    and the exceptions of `SellerApiClient.send`."""

    calls: SellerApiClient
    locale: str

    def item(self, sku: str) -> dict[str, Any]:
        """Return an inventory item; {} if there is none."""
        answer = self._get(f"{_INVENTORY}/inventory_item/{segment(sku)}", missing=True)
        return {} if answer.status == 404 else dict(answer.read(answers.Item))

    def items(self, offset: str) -> tuple[list[dict[str, Any]], str | None]:
        """Return a page of inventory items, and the offset of the next page."""
        query = {"limit": IMPORT_PAGE, "offset": offset}
        answer = self._get(f"{_INVENTORY}/inventory_item", query)
        page = answer.read(answers.Items)
        if "inventoryItems" not in page and page.get("total") != 0:
            raise answer.unfit()
        following = parse_qs(urlsplit(page.get("next", "")).query).get("offset", [None])[0]
        return [dict(each) for each in page.get("inventoryItems", [])], following

    def put_item(self, sku: str, item: Mapping[str, Any]) -> None:
        """Replace the whole item."""
        _done(self._json("PUT", f"{_INVENTORY}/inventory_item/{segment(sku)}", item))

    def find_offer(self, sku: str, site: str) -> dict[str, Any] | None:
        """Return the fixed-price offer of a SKU on a marketplace, or None."""
        return next(iter(self._offers(sku, marketplace_id=site)), None)

    def published_offer(self, sku: str) -> dict[str, Any] | None:
        """Return the published fixed-price offer of a SKU on any marketplace, or None."""
        return next(iter(self.published_offers(sku)), None)

    def published_offers(self, sku: str) -> list[dict[str, Any]]:
        """Return the published fixed-price offers of a SKU on all marketplaces."""
        return [each for each in self._offers(sku) if each["status"] == "PUBLISHED"]

    def offer(self, offer_id: str) -> dict[str, Any] | None:
        """Return an offer; None if there is none."""
        answer = self._get(f"{_INVENTORY}/offer/{segment(offer_id)}", missing=True)
        return None if answer.status == 404 else dict(answer.read(answers.Offer))

    def create_offer(self, offer: Mapping[str, Any]) -> str:
        """Create an offer and return its id, or the id of the offer that exists already."""
        answer = self._sent("POST", f"{_INVENTORY}/offer", offer)
        if not answer.ok:
            standing = parameter(answer, _OFFER_EXISTS, "offerId")
            if standing is None:
                raise refusal(answer)
            return standing
        return answer.read(answers.CreatedOffer)["offerId"]

    def put_offer(self, offer_id: str, offer: Mapping[str, Any]) -> None:
        """Replace the whole offer."""
        _done(self._json("PUT", f"{_INVENTORY}/offer/{segment(offer_id)}", offer))

    def update_price_quantity(self, update: Mapping[str, Any]) -> None:
        """Set the quantity of one SKU, and price and quantity of up to 25 of its offers.

        The response, usually a 207, has a part for each offer. Raises MarketplaceUnavailable if a
        part is missing or may succeed later, and MarketplaceRefused for failed parts; the other
        parts are done. eBay's description says "Only one SKU (one product) can be updated per
        call", its schema up to 25 SKUs. This method keeps the stricter limit.
        """
        answer = self._json("POST", PRICE_QUANTITY, {"requests": [dict(update)]})
        parts = answer.read(answers.UpdatedParts)["responses"]
        answered = {part.get("offerId") for part in parts}
        missing = [each for each in update["offers"] if each["offerId"] not in answered]
        statuses = [part["statusCode"] for part in parts]
        if missing or any(status >= 500 or status in LATER for status in statuses):
            raise MarketplaceUnavailable("ebay didn't answer for every offer")
        failed = [part for part in parts if part["statusCode"] >= 400]
        if failed:
            raise part_refusal(failed)

    def publish(self, offer_id: str) -> str:
        """Publish an offer and return the listing's id. A published offer returns its existing
        listing."""
        path = f"{_INVENTORY}/offer/{segment(offer_id)}/publish"
        # eBay's edge answers 411 to a POST without a body.
        return self._json("POST", path, {}).read(answers.ListingNamed)["listingId"]

    def withdraw(self, offer_id: str) -> None:
        """End the listing of an offer; the offer stays."""
        path = f"{_INVENTORY}/offer/{segment(offer_id)}/withdraw"
        self._json("POST", path, {}).read(answers.ListingNamed)

    def fees(self, offer_id: str) -> list[dict[str, Any]]:
        """Return the costs of publishing an unpublished offer, by marketplace."""
        path = f"{_INVENTORY}/offer/get_listing_fees"
        answer = self._json("POST", path, {"offers": [{"offerId": offer_id}]})
        return answer.read(answers.Fees)["feeSummaries"]

    def locations(self) -> list[Option]:
        """Return the seller's enabled inventory locations."""
        answer = self._get(f"{_INVENTORY}/location", {"limit": 100})
        page = answer.read(answers.Locations)
        if "locations" not in page and page.get("total") != 0:
            raise answer.unfit()
        return [
            _option(each["merchantLocationKey"], each.get("name"))
            for each in page.get("locations", [])
            if each.get("merchantLocationStatus") != "DISABLED"
        ]

    def programmes(self) -> list[str]:
        """Return the programmes that the seller has joined."""
        answer = self._get(f"{_ACCOUNT}/program/get_opted_in_programs")
        return [each["programType"] for each in answer.read(answers.Programmes)["programs"]]

    def policies(self, kind: str, site: str) -> list[Option]:
        """Return the seller's policies of one kind: `payment`, `fulfillment` or `return`."""
        answer = self._get(f"{_ACCOUNT}/{kind}_policy", {"marketplace_id": site})
        match kind:
            case "payment":
                payments = answer.read(answers.PaymentPolicies)["paymentPolicies"]
                return [_option(each["paymentPolicyId"], each.get("name")) for each in payments]
            case "fulfillment":
                ways = answer.read(answers.FulfillmentPolicies)["fulfillmentPolicies"]
                return [_option(each["fulfillmentPolicyId"], each.get("name")) for each in ways]
            case _:
                returns = answer.read(answers.ReturnPolicies)["returnPolicies"]
                return [_option(each["returnPolicyId"], each.get("name")) for each in returns]

    def suggested_category(self, tree: str, title: str) -> str | None:
        """Return a suggested leaf category of the tree for a title, or None."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_category_suggestions"
        answer = self._get(path, {"q": title}, public=True)
        if answer.status == _NO_CONTENT:
            return None
        found = answer.read(answers.Suggestions)["categorySuggestions"]
        return found[0]["category"]["categoryId"] if found else None

    def aspects(self, tree: str, category_id: str) -> list[answers.Aspect]:
        """Return the aspects of a leaf category."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_item_aspects_for_category"
        answer = self._get(path, {"category_id": category_id}, public=True)
        return [] if answer.status == _NO_CONTENT else answer.read(answers.Aspects)["aspects"]

    def tree(self, site: str) -> str:
        """Return the id of a marketplace's category tree."""
        path = f"{_TAXONOMY}/get_default_category_tree_id"
        answer = self._get(path, {"marketplace_id": site}, public=True)
        return answer.read(answers.Tree)["categoryTreeId"]

    def violated_types(self, site: str) -> list[str]:
        """Return the compliance types that some of the seller's listings on a marketplace
        violate."""
        answer = self._get(f"{_COMPLIANCE}/listing_violation_summary", site=site)
        if answer.status == _NO_CONTENT:
            return []
        return [
            each["complianceType"]
            for each in answer.read(answers.ViolationSummaries)["violationSummaries"]
            if each.get("marketplaceId") == site and each.get("listingCount")
        ]

    def violations(self, site: str, kind: str) -> Iterator[answers.ListingViolations]:
        """Yield the listings on a marketplace that violate one compliance type, with their
        violations."""
        for offset in range(0, _VIOLATIONS_MAX, _VIOLATIONS_PAGE):
            query = {"compliance_type": kind, "limit": _VIOLATIONS_PAGE, "offset": offset}
            answer = self._get(f"{_COMPLIANCE}/listing_violation", query, site=site)
            if answer.status == _NO_CONTENT:
                return
            page = answer.read(answers.ViolationPage)
            yield from page["listingViolations"]
            if offset + _VIOLATIONS_PAGE >= page["total"]:
                return

    def upload_image(self, url: str) -> str:
        """Upload an image by its URL and return the URL of eBay's copy."""
        path = "/commerce/media/v1_beta/image/create_image_from_url"
        answer = self._json("POST", path, {"imageUrl": url}, host=MEDIA)
        place = answer.headers.get("location", "")
        image_id = place.rstrip("/").rpartition("/")[2]
        if not image_id:
            raise answer.unfit()
        found = self._get(f"/commerce/media/v1_beta/image/{segment(image_id)}", host=MEDIA)
        return found.read(answers.Image)["imageUrl"]

    def orders(self, since: datetime, offset: int) -> answers.Orders:
        """Return a page of orders that changed since a time."""
        begin = to_iso(since)[:23] + "Z"  # eBay accepts milliseconds
        query = {"filter": f"lastmodifieddate:[{begin}..]", "limit": 50, "offset": offset}
        return self._get("/sell/fulfillment/v1/order", query).read(answers.Orders)

    def send_message(self, message: Mapping[str, Any]) -> str:
        """Send a message and return its id."""
        answer = self._json("POST", "/commerce/message/v1/send_message", message)
        return answer.read(answers.SentMessage)["messageId"]

    def conversation(self, conversation_id: str) -> list[answers.ShownMessage]:
        """Return the last messages of a conversation with a member, at most 50."""
        path = f"/commerce/message/v1/conversation/{segment(conversation_id)}"
        query = {"conversation_type": "FROM_MEMBERS", "limit": 50}
        return self._get(path, query).read(answers.Conversation)["messages"]

    def _offers(self, sku: str, **more: str) -> list[dict[str, Any]]:
        query = {"sku": sku, **more, "format": "FIXED_PRICE"}
        answer = self._get(f"{_INVENTORY}/offer", query, missing=True)
        found = [] if answer.status == 404 else answer.read(answers.Offers)["offers"]
        return [dict(each) for each in found]

    def _get(
        self,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        missing: bool = False,
        host: str = API,
        site: str | None = None,
        public: bool = False,
    ) -> MarketAnswer:
        """Send a GET. With `missing`, a 404 is returned instead of raised, unless it names no
        error: an intermediary's 404 proves nothing. With `public`, the request carries the
        application's own token."""
        headers = {} if site is None else {"X-EBAY-C-MARKETPLACE-ID": site}
        request = MarketRequest(
            host=host,
            method="GET",
            path=path,
            query=query or {},
            headers=headers,
            authorised=not public,
            as_application=public,
        )
        answer = self.calls.send(request)
        if missing and answer.status == 404:
            if not names_errors(answer):
                raise answer.unfit()
            return answer
        if not answer.ok:
            raise refusal(answer)
        return answer

    def _json(
        self, method: str, path: str, value: Mapping[str, Any], *, host: str = API
    ) -> MarketAnswer:
        answer = self._sent(method, path, value, host)
        if not answer.ok:
            raise refusal(answer)
        return answer

    def _sent(
        self, method: str, path: str, value: Mapping[str, Any], host: str = API
    ) -> MarketAnswer:
        body, headers = json_body(value)
        headers = {**headers, "Content-Language": self.locale}
        request = MarketRequest(host=host, method=method, path=path, headers=headers, body=body)
        return self.calls.send(request)


def _option(option_id: str, title: str | None) -> Option:
    return Option(id=option_id, title=title or option_id)


def _done(answer: MarketAnswer) -> None:
    """Check a success without content of its own. Raises MarketplaceUnsettled."""
    if answer.status != _NO_CONTENT:
        answer.read(answers.Done)
