"""Client of eBay's APIs, one method per operation; results are plain values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.kernel.clock import to_iso
from spinneret.kernel.errors import MarketplaceUnavailable
from spinneret.kernel.service import service
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
_VIOLATIONS_PAGE: Final = 200  # maximum page size of getListingViolations
_VIOLATIONS_MAX: Final = 2000  # maximum number of violations in all pages
_OFFER_EXISTS: Final = "25002"


@service
class EbayApi:
    """Client of eBay for one seller. Every method raises MarketplaceRefused with eBay's reasons,
    and the exceptions of `SellerApiClient.send`."""

    calls: SellerApiClient
    locale: str

    def item(self, sku: str) -> dict[str, Any]:
        """Return an inventory item; {} if there is none."""
        answer = self._get(f"{_INVENTORY}/inventory_item/{segment(sku)}", missing=True)
        return {} if answer.status == 404 else dict(answer.data)

    def put_item(self, sku: str, item: Mapping[str, Any]) -> None:
        """Replace the whole item."""
        self._json("PUT", f"{_INVENTORY}/inventory_item/{segment(sku)}", item)

    def find_offer(self, sku: str, site: str) -> dict[str, Any] | None:
        """Return the fixed-price offer of a SKU on a marketplace, or None."""
        query = {"sku": sku, "marketplace_id": site, "format": "FIXED_PRICE"}
        answer = self._get(f"{_INVENTORY}/offer", query, missing=True)
        offers = [] if answer.status == 404 else answer.data.get("offers", [])
        return next((dict(each) for each in offers), None)

    def published_offer(self, sku: str) -> dict[str, Any] | None:
        """Return the published fixed-price offer of a SKU on any marketplace, or None."""
        query = {"sku": sku, "format": "FIXED_PRICE"}
        answer = self._get(f"{_INVENTORY}/offer", query, missing=True)
        offers = [] if answer.status == 404 else answer.data.get("offers", [])
        return next((dict(each) for each in offers if each.get("status") == "PUBLISHED"), None)

    def offer(self, offer_id: str) -> dict[str, Any] | None:
        """Return an offer; None if there is none."""
        answer = self._get(f"{_INVENTORY}/offer/{segment(offer_id)}", missing=True)
        return None if answer.status == 404 else dict(answer.data)

    def create_offer(self, offer: Mapping[str, Any]) -> str:
        """Create an offer and return its id, or the id of the offer that exists already."""
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

        The response, usually a 207, has a part for each offer. Raises MarketplaceUnavailable if a
        part is missing or may succeed later, and MarketplaceRefused for failed parts; the other
        parts are done. eBay's description says "Only one SKU (one product) can be updated per
        call", its schema up to 25 SKUs. This method keeps the stricter limit.
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
        """Publish an offer and return the listing's id. A published offer returns its existing
        listing."""
        path = f"{_INVENTORY}/offer/{segment(offer_id)}/publish"
        # eBay's edge answers 411 to a POST without a body.
        return str(self._json("POST", path, {}).data["listingId"])

    def withdraw(self, offer_id: str) -> None:
        """End the listing of an offer; the offer stays."""
        self._json("POST", f"{_INVENTORY}/offer/{segment(offer_id)}/withdraw", {})

    def fees(self, offer_id: str) -> list[dict[str, Any]]:
        """Return the costs of publishing an unpublished offer, by marketplace."""
        path = f"{_INVENTORY}/offer/get_listing_fees"
        answer = self._json("POST", path, {"offers": [{"offerId": offer_id}]})
        return list(answer.data.get("feeSummaries", []))

    def locations(self) -> list[dict[str, Any]]:
        """Return the seller's inventory locations."""
        return list(self._get(f"{_INVENTORY}/location", {"limit": 100}).data.get("locations", []))

    def programmes(self) -> list[str]:
        """Return the programmes that the seller has joined."""
        data = self._get(f"{_ACCOUNT}/program/get_opted_in_programs").data
        return [str(each["programType"]) for each in data.get("programs", [])]

    def policies(self, kind: str, site: str) -> list[dict[str, Any]]:
        """Return the seller's policies of one kind: `payment`, `fulfillment` or `return`."""
        path = f"{_ACCOUNT}/{kind}_policy"
        data = self._get(path, {"marketplace_id": site}).data
        return list(data.get(f"{kind}Policies", []))

    def suggested_category(self, tree: str, title: str) -> str | None:
        """Return a suggested leaf category of the tree for a title, or None."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_category_suggestions"
        found = self._get(path, {"q": title}, public=True).data.get("categorySuggestions", [])
        return str(found[0]["category"]["categoryId"]) if found else None

    def aspects(self, tree: str, category_id: str) -> list[dict[str, Any]]:
        """Return the aspects of a leaf category."""
        path = f"{_TAXONOMY}/category_tree/{segment(tree)}/get_item_aspects_for_category"
        data = self._get(path, {"category_id": category_id}, public=True).data
        return list(data.get("aspects", []))

    def tree(self, site: str) -> str:
        """Return the id of a marketplace's category tree."""
        path = f"{_TAXONOMY}/get_default_category_tree_id"
        data = self._get(path, {"marketplace_id": site}, public=True).data
        return str(data["categoryTreeId"])

    def violated_types(self, site: str) -> list[str]:
        """Return the compliance types that some of the seller's listings on a marketplace
        violate."""
        answer = self._get(f"{_COMPLIANCE}/listing_violation_summary", site=site)
        return [
            str(each["complianceType"])
            for each in answer.data.get("violationSummaries", ())
            if each.get("marketplaceId") == site and each.get("listingCount")
        ]

    def violations(self, site: str, kind: str) -> Iterator[dict[str, Any]]:
        """Yield the listings on a marketplace that violate one compliance type, with their
        violations."""
        for offset in range(0, _VIOLATIONS_MAX, _VIOLATIONS_PAGE):
            query = {"compliance_type": kind, "limit": _VIOLATIONS_PAGE, "offset": offset}
            data = self._get(f"{_COMPLIANCE}/listing_violation", query, site=site).data
            yield from map(dict, data.get("listingViolations", ()))
            if offset + _VIOLATIONS_PAGE >= int(data.get("total", 0)):
                return

    def upload_image(self, url: str) -> str:
        """Upload an image by its URL and return the URL of eBay's copy."""
        path = "/commerce/media/v1_beta/image/create_image_from_url"
        answer = self._json("POST", path, {"imageUrl": url}, host=MEDIA)
        place = answer.headers.get("location", "")
        image_id = place.rstrip("/").rpartition("/")[2]
        found = self._get(f"/commerce/media/v1_beta/image/{segment(image_id)}", host=MEDIA)
        return str(found.data["imageUrl"])

    def orders(self, since: datetime, offset: int) -> dict[str, Any]:
        """Return a page of orders that changed since a time."""
        begin = to_iso(since)[:23] + "Z"  # eBay accepts milliseconds
        query = {"filter": f"lastmodifieddate:[{begin}..]", "limit": 50, "offset": offset}
        return dict(self._get("/sell/fulfillment/v1/order", query).data)

    def send_message(self, message: Mapping[str, Any]) -> str:
        """Send a message and return its id."""
        answer = self._json("POST", "/commerce/message/v1/send_message", message)
        return str(answer.data.get("messageId", ""))

    def conversation(self, conversation_id: str) -> list[dict[str, Any]]:
        """Return the last messages of a conversation with a member, at most 50."""
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
        """Send a GET. With `missing`, a 404 is returned instead of raised. With `public`, the
        request carries the application's own token."""
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
        headers = {**headers, "Content-Language": self.locale}
        request = MarketRequest(host=host, method=method, path=path, headers=headers, body=body)
        return self.calls.send(request)
