"""Client of Etsy's API, one method per operation; results are plain values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from spinneret.marketplace.calls.models import MarketAnswer, MarketRequest, form_body, json_body
from spinneret.marketplace.calls.service import SellerApiClient
from spinneret.marketplace.refusals import Meaning, Problem, refusal_error

API: Final = "etsy.api"
_V3: Final = "/v3/application"
PAGE: Final = 100
_BOUNDARY: Final = "spinneret-8f14e45fceea167a5a36dedd4bea2543"  # in no image: 32 hex digits
_PART: Final = "Content-Disposition: form-data"

# Etsy's errors have no ids: the status gives the kind, the message the details.
MEANINGS: Final[Mapping[int, Meaning]] = {
    400: Meaning(field="product", cause="Etsy refuses a field", fix="read its message"),
    401: Meaning(field="connection", cause="the token is invalid", fix="connect again"),
    403: Meaning(
        field="connection", cause="the seller hasn't authorized this", fix="connect again"
    ),
    404: Meaning(field="listing", cause="it isn't there", fix="sync the product"),
    409: Meaning(field="listing", cause="its state doesn't allow this", fix="sync the product"),
    413: Meaning(field="images", cause="the image is too large", fix="use at most 10 MB"),
}


class EtsyApi:
    """Client of Etsy for one shop. Every method raises MarketplaceRefused with Etsy's reason, and
    the exceptions of `SellerApiClient.send`."""

    def __init__(self, calls: SellerApiClient, shop_id: str = "") -> None:
        self._calls = calls
        self._shop = f"{_V3}/shops/{shop_id}"

    def shop_of(self, user_id: str) -> str:
        """Return the id of a seller's shop."""
        data = self._get(f"{_V3}/users/{user_id}/shops").data
        return str(data.get("shop_id", ""))

    def shipping_profiles(self) -> list[dict[str, Any]]:
        """Return the shop's shipping profiles."""
        return list(self._get(f"{self._shop}/shipping-profiles").data.get("results", []))

    def readiness_states(self) -> list[dict[str, Any]]:
        """Return the shop's processing profiles."""
        path = f"{self._shop}/readiness-state-definitions"
        return list(self._get(path).data.get("results", []))

    def create_draft(self, form: Mapping[str, Any]) -> str:
        """Create a draft and return its id."""
        return str(self._form("POST", f"{self._shop}/listings", form).data["listing_id"])

    def newest(self, state: str, offset: int) -> list[dict[str, Any]]:
        """Return a page of the shop's listings in a state, newest first."""
        query = {
            "state": state,
            "limit": PAGE,
            "offset": offset,
            "sort_on": "created",
            "sort_order": "desc",
        }
        return list(self._get(f"{self._shop}/listings", query).data.get("results", []))

    def listing(self, listing_id: str) -> dict[str, Any] | None:
        """Return a listing; None if there is none."""
        answer = self._sent("GET", f"{_V3}/listings/{listing_id}")
        if answer.status == 404:
            return None
        return dict(_good(answer).data)

    def change(self, listing_id: str, form: Mapping[str, Any]) -> dict[str, Any]:
        """Change fields of a listing and return it."""
        return dict(self._form("PATCH", f"{self._shop}/listings/{listing_id}", form).data)

    def delete(self, listing_id: str) -> bool:
        """Delete a listing; return False if there is none."""
        answer = self._sent("DELETE", f"{_V3}/listings/{listing_id}")
        if answer.status == 404:
            return False
        _good(answer)
        return True

    def images(self, listing_id: str) -> list[dict[str, Any]]:
        """Return a listing's images by rank."""
        found = self._get(f"{_V3}/listings/{listing_id}/images").data.get("results", [])
        return sorted(found, key=lambda image: int(image.get("rank", 0)))

    def upload(
        self, listing_id: str, image: bytes, media_type: str, rank: int, alt_text: str
    ) -> str:
        """Upload an image and return its id."""
        body, headers = _multipart(image, media_type, {"rank": str(rank), "alt_text": alt_text})
        path = f"{self._shop}/listings/{listing_id}/images"
        answer = self._sent("POST", path, body=body, headers=headers)
        return str(_good(answer).data["listing_image_id"])

    def inventory(self, listing_id: str) -> dict[str, Any]:
        """Return a listing's product set; {} if it has none."""
        answer = self._sent("GET", f"{_V3}/listings/{listing_id}/inventory")
        return {} if answer.status == 404 else dict(_good(answer).data)

    def put_inventory(self, listing_id: str, inventory: Mapping[str, Any]) -> None:
        """Replace the whole product set."""
        body, headers = json_body(inventory)
        path = f"{_V3}/listings/{listing_id}/inventory"
        _good(self._sent("PUT", path, body=body, headers=headers))

    def receipts(self, since: datetime, offset: int) -> dict[str, Any]:
        """Return a page of paid orders that changed since a time."""
        query = {
            "min_last_modified": int(since.timestamp()),
            "was_paid": "true",
            "limit": PAGE,
            "offset": offset,
        }
        return dict(self._get(f"{self._shop}/receipts", query).data)

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> MarketAnswer:
        return _good(self._sent("GET", path, query))

    def _form(self, method: str, path: str, form: Mapping[str, Any]) -> MarketAnswer:
        body, headers = form_body(form)
        return _good(self._sent(method, path, body=body, headers=headers))

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


def _good(answer: MarketAnswer) -> MarketAnswer:
    if answer.ok:
        return answer
    data = answer.data
    said = str(data.get("error_description") or data.get("error") or "") if data else ""
    other = Meaning(field="request", cause=f"Etsy answers {answer.status}")
    meaning = MEANINGS.get(answer.status, other)
    problem = Problem(id=str(answer.status), meaning=meaning, said=said)
    raise refusal_error("etsy", answer.status, [problem])


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
