"""eBay's interfaces, one method each: requests out, plain values in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import MarketplaceUnavailable
from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest, json_body, segment
from spinneret.marketplace.calls.service import LATER, SellerApiClient
from spinneret.marketplace.ebay.errors import parameter, part_refusal, refusal

API: Final = "ebay.api"
MEDIA: Final = "ebay.media"
_INVENTORY: Final = "/sell/inventory/v1"
PRICE_QUANTITY: Final = f"{_INVENTORY}/bulk_update_price_quantity"
_ACCOUNT: Final = "/sell/account/v1"
_TAXONOMY: Final = "/commerce/taxonomy/v1"
_COMPLIANCE: Final = "/sell/compliance/v1"
_VIOLATIONS_PAGE: Final = 200  # the most that a page of getListingViolations has
_VIOLATIONS_MAX: Final = 2000  # the most that it answers in all
_OFFER_EXISTS: Final = "25002"


class EbayApi:
    """eBay for one seller. Every method raises MarketplaceRefused with eBay's reasons, and what
    `SellerApiClient.send` raises."""

    def __init__(self, calls: SellerApiClient, locale: str) -> None:
        self._calls = calls
        self._locale = locale

    def item(self, sku: str) -> dict[str, Any]:
        """An inventory item; {} when there is none."""
        answer = self._get(f"{_INVENTORY}/inventory_item/{segment(sku)}", missing=True)
        return {} if answer.status == 404 else dict(answer.data)

    def put_item(self, sku: str, item: Mapping[str, Any]) -> None:
        """Replace the whole item."""
        self._json("PUT", f"{_INVENTORY}/inventory_item/{segment(sku)}", item)

    def find_offer(self, sku: str, site: str) -> dict[str, Any] | None:
        """The fixed-price offer of a SKU on a marketplace, if there is one."""
        query = {"sku": sku, "marketplace_id": site, "format": "FIXED_PRICE"}
        answer = self._get(f"{_INVENTORY}/offer", query, missing=True)
        offers = [] if answer.status == 404 else answer.data.get("offers", [])
        return next((dict(each) for each in offers), None)

    def published_offer(self, sku: str) -> dict[str, Any] | None:
        """The published fixed-price offer of a SKU, on whichever marketplace it is."""
        query = {"sku": sku, "format": "FIXED_PRICE"}
        answer = self._get(f"{_INVENTORY}/offer", query, missing=True)
        offers = [] if answer.status == 404 else answer.data.get("offers", [])
        return next((dict(each) for each in offers if each.get("status") == "PUBLISHED"), None)

    def offer(self, offer_id: str) -> dict[str, Any] | None:
        """An offer; None when there is none."""
        answer = self._get(f"{_INVENTORY}/offer/{segment(offer_id)}", missing=True)
        return None if answer.status == 404 else dict(answer.data)

    def create_offer(self, offer: Mapping[str, Any]) -> str:
        """The id of the new offer, or of the one that eBay says is there already."""
        answer = self._sent("POST", f"{_INVENTORY}/offer", offer)
        if not answer.ok:
            standing = parameter(answer, _OFFER_EXISTS, "offerId")
            if standing is None:
                raise refusal(answer)
            return standing
        return str(answer.data["offerId"])

    def put_offer(self, offer_id: str, offer: Mapping[str, Any]) -> None:
        """Replace the whole offer."""
        self._json("PUT", f"{_INVENTORY}/offer/{segment(offer_id)}", offer)

    def update_price_quantity(self, update: Mapping[str, Any]) -> None:
        """Set the quantity of one SKU, and price and quantity of up to 25 of its offers.

        The answer, a 207 as a rule, has a part for each offer. Raises for the parts that failed;
        the others are done. (Its description: "Only one SKU (one product) can be updated per call".
        Its schema speaks of up to 25 SKUs; the stricter of the two is kept.)
        """
        answer = self._json("POST", PRICE_QUANTITY, {"requests": [dict(update)]})
        parts = answer.data.get("responses", [])
        answered = {str(part.get("offerId")) for part in parts}
        missing = [each for each in update["offers"] if each["offerId"] not in answered]
        statuses = [int(part["statusCode"]) for part in parts]
        if missing or any(status >= 500 or status in LATER for status in statuses):
            raise MarketplaceUnavailable("ebay didn't answer for every offer")
        failed = [part for part in parts if int(part["statusCode"]) >= 400]
        if failed:
            raise part_refusal(failed)

    def publish(self, offer_id: str) -> str:
        """The listing's id. A published offer answers with the one that it has."""
        path = f"{_INVENTORY}/offer/{segment(offer_id)}/publish"
        # eBay's edge answers 411 to a POST without a body.
        return str(self._json("POST", path, {}).data["listingId"])

    def withdraw(self, offer_id: str) -> None:
        """End the listing of an offer; the offer stays."""
        self._json("POST", f"{_INVENTORY}/offer/{segment(offer_id)}/withdraw", {})

    def fees(self, offer_id: str) -> list[dict[str, Any]]:
        """What publishing an unpublished offer costs, by marketplace."""
        path = f"{_INVENTORY}/offer/get_listing_fees"
        answer = self._json("POST", path, {"offers": [{"offerId": offer_id}]})
        return list(answer.data.get("feeSummaries", []))

    def locations(self) -> list[dict[str, Any]]:
        """The seller's inventory locations."""
        return list(self._get(f"{_INVENTORY}/location", {"limit": 100}).data.get("locations", []))

    def programmes(self) -> list[str]:
        """The programmes that the seller has joined."""
        data = self._get(f"{_ACCOUNT}/program/get_opted_in_programs").data
        return [str(each["programType"]) for each in data.get("programs", [])]

    def policies(self, kind: str, site: str) -> list[dict[str, Any]]:
        """The seller's policies: `payment`, `fulfillment` or `return`."""
        path = f"{_ACCOUNT}/{kind}_policy"
        data = self._get(path, {"marketplace_id": site}).data
        return list(data.get(f"{kind}Policies", []))

    def suggested_category(self, tree: str, title: str) -> str | None:
        """A leaf category of the tree for a title."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_category_suggestions"
        found = self._get(path, {"q": title}, public=True).data.get("categorySuggestions", [])
        return str(found[0]["category"]["categoryId"]) if found else None

    def aspects(self, tree: str, category_id: str) -> list[dict[str, Any]]:
        """The aspects of a leaf category."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_item_aspects_for_category"
        data = self._get(path, {"category_id": category_id}, public=True).data
        return list(data.get("aspects", []))

    def tree(self, site: str) -> str:
        """The category tree of a marketplace."""
        path = f"{_TAXONOMY}/get_default_category_tree_id"
        data = self._get(path, {"marketplace_id": site}, public=True).data
        return str(data["categoryTreeId"])

    def violated_types(self, site: str) -> list[str]:
        """The compliance types that some of the seller's listings on a marketplace violate."""
        answer = self._get(f"{_COMPLIANCE}/listing_violation_summary", site=site)
        return [
            str(each["complianceType"])
            for each in answer.data.get("violationSummaries", ())
            if each.get("marketplaceId") == site and each.get("listingCount")
        ]

    def violations(self, site: str, kind: str) -> Iterator[dict[str, Any]]:
        """The listings on a marketplace that violate one compliance type, each with what it is."""
        for offset in range(0, _VIOLATIONS_MAX, _VIOLATIONS_PAGE):
            query = {"compliance_type": kind, "limit": _VIOLATIONS_PAGE, "offset": offset}
            data = self._get(f"{_COMPLIANCE}/listing_violation", query, site=site).data
            yield from map(dict, data.get("listingViolations", ()))
            if offset + _VIOLATIONS_PAGE >= int(data.get("total", 0)):
                return

    def upload_image(self, url: str) -> str:
        """eBay's address of its copy of an image."""
        path = "/commerce/media/v1_beta/image/create_image_from_url"
        answer = self._json("POST", path, {"imageUrl": url}, host=MEDIA)
        place = answer.headers.get("location", "")
        image_id = place.rstrip("/").rpartition("/")[2]
        found = self._get(f"/commerce/media/v1_beta/image/{segment(image_id)}", host=MEDIA)
        return str(found.data["imageUrl"])

    def orders(self, since: datetime, offset: int) -> dict[str, Any]:
        """A page of orders that changed since a time."""
        begin = to_iso(since)[:23] + "Z"  # eBay takes milliseconds
        query = {"filter": f"lastmodifieddate:[{begin}..]", "limit": 50, "offset": offset}
        return dict(self._get("/sell/fulfillment/v1/order", query).data)

    def send_message(self, message: Mapping[str, Any]) -> str:
        """The id of the message."""
        answer = self._json("POST", "/commerce/message/v1/send_message", message)
        return str(answer.data.get("messageId", ""))

    def conversation(self, conversation_id: str) -> list[dict[str, Any]]:
        """The last messages of a conversation with a member."""
        path = f"/commerce/message/v1/conversation/{segment(conversation_id)}"
        query = {"conversation_type": "FROM_MEMBERS", "limit": 50}
        return list(self._get(path, query).data.get("messages", []))

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
        """`missing`: a 404 is an answer, too. `public`: with the application's own token."""
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
        answer = self._calls.send(request)
        if answer.ok or (missing and answer.status == 404):
            return answer
        raise refusal(answer)

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
        headers = {**headers, "Content-Language": self._locale}
        request = MarketRequest(host=host, method=method, path=path, headers=headers, body=body)
        return self._calls.send(request)
