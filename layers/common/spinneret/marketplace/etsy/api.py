"""Client of Etsy's API, one method per operation; results are plain values."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest, form_body, json_body
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.etsy import answers
from spinneret.marketplace.refusals import ErrorClass, Meaning, Problem, answer_error

API: Final = "etsy.api"
_V3: Final = "/v3/application"
PAGE: Final = 100
_BOUNDARY: Final = "spinneret-8f14e45fceea167a5a36dedd4bea2543"  # in no image: 32 hex digits
_PART: Final = "Content-Disposition: form-data"

_NO_CONTENT: Final = 204

# Etsy's errors have no ids: the call gives the field, the status the cause, the message the rest.
MEANINGS: Final[Mapping[int, Meaning]] = {
    401: Meaning(field="connection", cause="the token is invalid", fix="connect again"),
    403: Meaning(
        field="connection", cause="the seller hasn't authorized this", fix="connect again"
    ),
    409: Meaning(field="listing", cause="its state doesn't allow this", fix="sync the product"),
    413: Meaning(field="images", cause="the image is too large", fix="use at most 10 MB"),
}
REFUSED: Final[Mapping[str, Meaning]] = {
    "images": Meaning(field="images", cause="Etsy refuses an image", fix="read its message"),
    "listing": Meaning(
        field="listing", cause="Etsy doesn't publish it", fix="complete it as the message says"
    ),
    "orders": Meaning(field="orders", cause="Etsy refuses the request", fix="read its message"),
    "price": Meaning(
        field="price", cause="Etsy refuses price, quantity or SKU", fix="read its message"
    ),
    "product": Meaning(field="product", cause="Etsy refuses a field", fix="read its message"),
    "shop": Meaning(field="shop", cause="Etsy refuses the request", fix="read its message"),
}
"""Meanings of a 400, by the field that the call sends."""
MISSING: Final[Mapping[str, Meaning]] = {
    "orders": Meaning(field="shop", cause="it isn't there", fix="open a shop on Etsy"),
    "shop": Meaning(field="shop", cause="it isn't there", fix="open a shop on Etsy"),
}
"""Meanings of a 404, by the field that the call sends; the others' is _NOT_SHOWN."""
_NOT_SHOWN: Final = Meaning(
    field="listing",
    cause="it isn't there",
    fix="sync the product",
    error_class=ErrorClass.READ_BACK,  # Etsy may not show at once what it made
)


class EtsyApi:
    """Client of Etsy for one shop. Every method raises MarketplaceRefused with Etsy's reason, and
    the exceptions of `SellerApiClient.send`."""

    def __init__(self, calls: SellerApiClient, shop_id: str = "") -> None:
        self._calls = calls
        self._shop = f"{_V3}/shops/{shop_id}"

    def shop_of(self, user_id: str) -> answers.Shop:
        """Return a seller's shop."""
        return self._get(f"{_V3}/users/{user_id}/shops", "shop").read(answers.Shop)

    def shipping_profiles(self) -> list[answers.ShippingProfile]:
        """Return the shop's shipping profiles."""
        answer = self._get(f"{self._shop}/shipping-profiles", "shop")
        return answer.read(answers.Results[answers.ShippingProfile])["results"]

    def return_policies(self) -> list[answers.ReturnPolicy]:
        """Return the shop's return policies."""
        answer = self._get(f"{self._shop}/policies/return", "shop")
        return answer.read(answers.Results[answers.ReturnPolicy])["results"]

    def sections(self) -> list[answers.ShopSection]:
        """Return the shop's sections."""
        answer = self._get(f"{self._shop}/sections", "shop")
        return answer.read(answers.Results[answers.ShopSection])["results"]

    def readiness_states(self) -> list[int]:
        """Return the ids of the shop's processing profiles."""
        answer = self._get(f"{self._shop}/readiness-state-definitions", "shop")
        found = answer.read(answers.Results[answers.ReadinessState])["results"]
        return [each["readiness_state_id"] for each in found]

    def create_draft(self, form: Mapping[str, Any]) -> str:
        """Create a draft and return its id."""
        answer = self._form("POST", f"{self._shop}/listings", form, "product")
        return answer.read(answers.ShopListing)["listing_id"]

    def newest(self, state: str, offset: int) -> list[answers.ShopListing]:
        """Return a page of the shop's listings in a state, newest first."""
        return self._listings(offset, state=state, limit=PAGE, sort_order="desc")

    def active(self, offset: int, limit: int) -> list[answers.ShopListing]:
        """Return a page of the shop's active listings with their images, oldest first."""
        return self._listings(
            offset, state="active", limit=limit, sort_order="asc", includes="Images"
        )

    def _listings(self, offset: int, **query: str | int) -> list[answers.ShopListing]:
        """Return a page of the shop's listings by their creation. Raises MarketplaceUnsettled for
        an empty page before the last one: it would hide a listing."""
        path, query = f"{self._shop}/listings", {**query, "offset": offset, "sort_on": "created"}
        answer = self._get(path, "shop", query)
        page = answer.read(answers.ShopListings)
        if not page["results"] and offset < page["count"]:
            raise answer.unfit()
        return page["results"]

    def listing(self, listing_id: str) -> answers.ShopListing | None:
        """Return a listing; None if there is none."""
        answer = self._sent("GET", f"{_V3}/listings/{listing_id}")
        if _is_missing(answer):
            return None
        return _good(answer, "listing").read(answers.ShopListing)

    def change(
        self, listing_id: str, form: Mapping[str, Any], field: str = "product"
    ) -> answers.ShopListing:
        """Change fields of a listing and return it. `field` is the field that a refusal names."""
        path = f"{self._shop}/listings/{listing_id}"
        return self._form("PATCH", path, form, field).read(answers.ShopListing)

    def delete(self, listing_id: str) -> bool:
        """Delete a listing; return False if there is none."""
        answer = self._sent("DELETE", f"{_V3}/listings/{listing_id}")
        if _is_missing(answer):
            return False
        if _good(answer, "listing").status != _NO_CONTENT:
            raise answer.unfit()
        return True

    def images(self, listing_id: str) -> list[answers.Image]:
        """Return a listing's images by rank."""
        answer = self._get(f"{_V3}/listings/{listing_id}/images", "images")
        found = answer.read(answers.Results[answers.Image])["results"]
        return sorted(found, key=lambda image: image.get("rank") or 0)

    def upload(
        self, listing_id: str, image: bytes, media_type: str, rank: int, alt_text: str
    ) -> str:
        """Upload an image and return its id."""
        body, headers = _multipart(image, media_type, {"rank": str(rank), "alt_text": alt_text})
        path = f"{self._shop}/listings/{listing_id}/images"
        answer = self._sent("POST", path, body=body, headers=headers)
        return _good(answer, "images").read(answers.Image)["listing_image_id"]

    def inventory(self, listing_id: str) -> list[answers.InventoryProduct]:
        """Return a listing's product set; [] if it has none."""
        answer = self._sent("GET", f"{_V3}/listings/{listing_id}/inventory")
        if _is_missing(answer):
            return []
        return _good(answer, "price").read(answers.Inventory)["products"]

    def put_inventory(self, listing_id: str, inventory: Mapping[str, Any]) -> None:
        """Replace the whole product set."""
        body, headers = json_body(inventory)
        path = f"{_V3}/listings/{listing_id}/inventory"
        answer = self._sent("PUT", path, body=body, headers=headers)
        _good(answer, "price").read(answers.Inventory)

    def receipts(self, since: datetime, offset: int) -> answers.Receipts:
        """Return a page of orders that changed since a time."""
        query = {
            "min_last_modified": int(since.timestamp()),
            "limit": PAGE,
            "offset": offset,
        }
        return self._get(f"{self._shop}/receipts", "orders", query).read(answers.Receipts)

    def _get(self, path: str, field: str, query: Mapping[str, Any] | None = None) -> MarketAnswer:
        return _good(self._sent("GET", path, query), field)

    def _form(self, method: str, path: str, form: Mapping[str, Any], field: str) -> MarketAnswer:
        body, headers = form_body(form)
        return _good(self._sent(method, path, body=body, headers=headers), field)

    def _sent(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> MarketAnswer:
        return self._calls.send(
            MarketRequest(
                host=API,
                method=method,
                path=path,
                query=query or {},
                headers=headers or {},
                body=body,
            )
        )


def _is_missing(answer: MarketAnswer) -> bool:
    """Return whether Etsy answers that there is no such thing. Raises MarketplaceUnsettled for a
    404 without its reason: an intermediary's 404 proves nothing."""
    if answer.status != 404:
        return False
    if answer.read_error(answers.ErrorText) is None:
        raise answer.unfit()
    return True


def _good(answer: MarketAnswer, field: str) -> MarketAnswer:
    """Return a success. Raises MarketplaceRefused and MarketplaceUnsettled; `field` is the field
    that the call sends."""
    if answer.ok:
        return answer
    text = answer.read_error(answers.ErrorText)
    said = "" if text is None else text.get("error_description") or text["error"]
    problem = Problem(id=str(answer.status), meaning=_meaning(answer.status, field), said=said)
    raise answer_error("etsy", answer.status, [problem])


def _meaning(status: int, field: str) -> Meaning:
    match status:
        case 400:
            return REFUSED[field]
        case 404:
            return MISSING.get(field, _NOT_SHOWN)
    other = Meaning(
        field="request", cause=f"Etsy answers {status}", fix="try again later, then report it"
    )
    return MEANINGS.get(status, other)


def _multipart(
    image: bytes, media_type: str, fields: Mapping[str, str]
) -> tuple[bytes, Mapping[str, str]]:
    """Encode a form with one file (RFC 7578)."""
    parts = [
        f'--{_BOUNDARY}\r\n{_PART}; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{_BOUNDARY}\r\n{_PART}; name="image"; filename="image"\r\n'
        f"Content-Type: {media_type}\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), image, f"\r\n--{_BOUNDARY}--\r\n".encode()])
    return body, {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
