"""Etsy's real behaviour: forms, unordered images, whole product sets or none.

New listings appear in lists late. Stateful; contains no code and no texts of Etsy.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from tests.markets.web import RecordedRequest, StubResponse

KEYS = {
    "client_id": "keystring",
    "client_secret": "shared",
    "redirect_uri": "https://spinneret.example/back",
    "webhook_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
}
SHOP = "4711"
_REQUIRED = (
    *("quantity", "title", "description", "price", "who_made", "when_made", "taxonomy_id"),
    *("shipping_profile_id", "readiness_state_id"),
)

_CHOSEN = ("shipping_profile_id", "return_policy_id", "shop_section_id")


class FakeEtsy:
    """Etsy, with one seller."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self.clock = clock
        self.listings: dict[str, dict[str, Any]] = {}
        self.images: dict[str, list[dict[str, Any]]] = {}
        self.inventories: dict[str, dict[str, Any]] = {}
        self.receipts: list[dict[str, Any]] = []
        self.deleted: list[str] = []
        self.visible_after = 60.0
        """Seconds until a new listing appears in lists."""
        self.left_today: int | None = None
        self.tokens = {"77.access-0"}
        self.refresh_token = "77.refresh-0"
        self.refused_tokens: list[str] = []
        """Refresh tokens that a client used again after they had been exchanged."""
        self.verifiers: dict[str, str] = {}
        self.calls: Counter[str] = Counter()
        self.refused_titles: set[str] = set()
        self.currency = "EUR"
        self.profiles, self.policies, self.sections = [31], [51], [61]
        self._numbers = itertools.count(1000)
        shop = rf"/v3/application/shops/{SHOP}"
        self._routes: list[tuple[str, str, Callable[..., StubResponse]]] = [
            ("POST", r"/v3/public/oauth/token", self._token),
            ("GET", r"/v3/application/users/(\d+)/shops", self._shop),
            ("GET", rf"{shop}/shipping-profiles", self._profiles),
            ("GET", rf"{shop}/readiness-state-definitions", self._states),
            ("GET", rf"{shop}/policies/return", self._return_policies),
            ("GET", rf"{shop}/sections", self._sections),
            ("POST", rf"{shop}/listings", self._create),
            ("GET", rf"{shop}/listings", self._newest),
            ("PATCH", rf"{shop}/listings/(\d+)", self._change),
            ("POST", rf"{shop}/listings/(\d+)/images", self._upload),
            ("GET", r"/v3/application/listings/(\d+)/images", self._images),
            ("GET", r"/v3/application/listings/(\d+)/inventory", self._inventory),
            ("PUT", r"/v3/application/listings/(\d+)/inventory", self._put_inventory),
            ("GET", r"/v3/application/listings/(\d+)", self._listing),
            ("DELETE", r"/v3/application/listings/(\d+)", self._delete),
            ("GET", rf"{shop}/receipts", self._receipts),
        ]

    def serve(self, seen: RecordedRequest) -> StubResponse:
        for method, pattern, answer in self._routes:
            found = re.fullmatch(pattern, seen.path)
            if found and method == seen.method:
                self.calls[answer.__name__] += 1
                if "/application/" in seen.path and (refused := self._refused(seen)):
                    return refused
                said = answer(seen, *found.groups())
                if self.left_today is not None:
                    self.left_today -= 1
                    left = {"x-remaining-today": str(self.left_today)}
                    return StubResponse(said.status, said.data, {**said.headers, **left})
                return said
        return StubResponse(404, {"error": "Resource not found"})

    def live(self, title: str) -> list[str]:
        """Return the listings of a title, including drafts; more than one means duplicates."""
        return [key for key, each in self.listings.items() if each["title"] == title]

    def list_by_hand(self, key: str, **fields: Any) -> None:
        """Create a listing that the seller makes on Etsy's own pages."""
        self._add(key, **{"description": "", "state": "active", **fields})

    def sell(self, sku: str, receipt_id: int, quantity: int = 1) -> None:
        """Sell a product to a buyer."""
        line = {"transaction_id": receipt_id * 10, "sku": sku, "quantity": quantity}
        made = int(self.clock().timestamp())
        receipt = {"receipt_id": receipt_id, "created_timestamp": made, "transactions": [line]}
        self.receipts.append(receipt)

    def _refused(self, seen: RecordedRequest) -> StubResponse | None:
        if seen.headers.get("x-api-key") != f"{KEYS['client_id']}:{KEYS['client_secret']}":
            return StubResponse(403, {"error": "the key isn't complete"})
        if seen.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return StubResponse(401, {"error": "invalid_token"})
        if self.left_today is not None and self.left_today <= 0:
            return StubResponse(429, {"error": "over the day's limit"}, {"x-remaining-today": "0"})
        return None

    def _token(self, seen: RecordedRequest) -> StubResponse:
        form = {name: values[0] for name, values in seen.form.items()}
        if form["client_id"] != KEYS["client_id"]:
            return StubResponse(401, {"error": "invalid_client"})
        if form["grant_type"] == "authorization_code":
            self.verifiers[form["code"]] = form["code_verifier"]
        elif form["refresh_token"] != self.refresh_token:
            self.refused_tokens.append(form["refresh_token"])
            return StubResponse(400, {"error": "invalid_grant"})
        number = next(self._numbers)
        self.tokens = {f"77.access-{number}"}
        self.refresh_token = f"77.refresh-{number}"
        return StubResponse(
            200,
            {
                "access_token": f"77.access-{number}",
                "refresh_token": self.refresh_token,
                "expires_in": 3600,
            },
        )

    def _shop(self, _: RecordedRequest, __: str) -> StubResponse:
        return StubResponse(200, {"shop_id": int(SHOP), "currency_code": self.currency})

    def _profiles(self, _: RecordedRequest) -> StubResponse:
        return _results({"shipping_profile_id": each} for each in self.profiles)

    def _return_policies(self, _: RecordedRequest) -> StubResponse:
        return _results(
            {"return_policy_id": each, "accepts_returns": True} for each in self.policies
        )

    def _sections(self, _: RecordedRequest) -> StubResponse:
        return _results({"shop_section_id": each, "title": "Coats"} for each in self.sections)

    def _states(self, _: RecordedRequest) -> StubResponse:
        return StubResponse(200, {"count": 1, "results": [{"readiness_state_id": 41}]})

    def _create(self, seen: RecordedRequest) -> StubResponse:
        form = seen.form
        if seen.headers["content-type"] != "application/x-www-form-urlencoded":
            return StubResponse(400, {"error": "not a form"})
        missing = [name for name in _REQUIRED if name not in form]
        if int(form["shipping_profile_id"][0]) not in self.profiles:
            return StubResponse(400, {"error": "Invalid shipping_profile_id"})
        if missing or form["title"][0] in self.refused_titles:
            return StubResponse(
                400, {"error": f"Missing or wrong: {', '.join(missing) or 'title'}"}
            )
        key = str(next(self._numbers))
        self._add(
            key,
            title=form["title"][0],
            description=form["description"][0],
            quantity=int(form["quantity"][0]),
            taxonomy_id=int(form["taxonomy_id"][0]),
            tags=_listed(form, "tags"),
            price={"amount": round(float(form["price"][0]) * 100), "divisor": 100},
            state="draft",
            **{name: int(form[name][0]) for name in _CHOSEN if name in form},
        )
        return StubResponse(201, self.listings[key])

    def _add(self, key: str, **fields: Any) -> None:
        made = int(self.clock().timestamp())
        own = {"listing_id": int(key), "created_timestamp": made, "url": None}
        self.listings[key] = own | fields
        self.images[key] = []

    def _newest(self, seen: RecordedRequest) -> StubResponse:
        state = seen.query["state"][0]
        late = (self.clock() - timedelta(seconds=self.visible_after)).timestamp()
        found = [
            each
            for each in self.listings.values()
            if each["state"] == state and each["created_timestamp"] <= late
        ]
        is_oldest_first = seen.query.get("sort_order") == ["asc"]
        found.sort(key=lambda each: int(each["created_timestamp"]), reverse=not is_oldest_first)
        offset, limit = int(seen.query.get("offset", ["0"])[0]), int(seen.query["limit"][0])
        page = found[offset : offset + limit]
        if seen.query.get("includes") == ["Images"]:
            page = [self._with_images(each) for each in page]
        return StubResponse(200, {"count": len(found), "results": page})

    def _with_images(self, listing: dict[str, Any]) -> dict[str, Any]:
        key = str(listing["listing_id"])
        images = [
            {**each, "rank": n, "url_fullxfull": f"https://i.etsy.example/{key}/{n}.jpg"}
            for n, each in enumerate(self.images[key], start=1)
        ]
        skus = [each["sku"] for each in self.inventories.get(key, {}).get("products", ())]
        return {"skus": skus, "images": images} | listing

    def _listing(self, _: RecordedRequest, key: str) -> StubResponse:
        if key not in self.listings:
            return StubResponse(404, {"error": "Resource not found"})
        return StubResponse(200, self.listings[key])

    def _change(self, seen: RecordedRequest, key: str) -> StubResponse:
        listing, form = self.listings.get(key), seen.form
        if listing is None:
            return StubResponse(404, {"error": "Resource not found"})
        if form.get("state") == ["active"]:
            if not self.images[key]:
                return StubResponse(400, {"error": "a listing needs an image"})
            listing["state"] = "active"
            listing["url"] = f"https://www.etsy.example/listing/{key}"
        if "image_ids" in form:
            by_id = {str(each["listing_image_id"]): each for each in self.images[key]}
            wanted = dict.fromkeys(_listed(form, "image_ids"))
            self.images[key] = [by_id[each] for each in wanted if each in by_id]
        for name in ("title", "description"):
            if name in form:
                listing[name] = form[name][0]
        if "tags" in form:
            listing["tags"] = _listed(form, "tags")
        listing |= {name: int(form[name][0]) for name in _CHOSEN if name in form}
        return StubResponse(200, listing)

    def _upload(self, seen: RecordedRequest, key: str) -> StubResponse:
        if key not in self.listings:
            return StubResponse(404, {"error": "Resource not found"})
        text = seen.body.decode("latin-1")
        alt = re.search(r'name="alt_text"\r\n\r\n(.*?)\r\n--', text, re.DOTALL)
        assert alt is not None
        image = {"listing_image_id": next(self._numbers), "alt_text": alt[1]}
        self.images[key].insert(0, image)  # Etsy ignores the rank
        return StubResponse(201, image)

    def _images(self, _: RecordedRequest, key: str) -> StubResponse:
        found = [{**each, "rank": n} for n, each in enumerate(self.images.get(key, []), start=1)]
        return StubResponse(200, {"count": len(found), "results": found})

    def _inventory(self, _: RecordedRequest, key: str) -> StubResponse:
        if key not in self.inventories:
            return StubResponse(404, {"error": "Resource not found"})
        return StubResponse(200, self.inventories[key])

    def _put_inventory(self, seen: RecordedRequest, key: str) -> StubResponse:
        if key not in self.listings:
            return StubResponse(404, {"error": "Resource not found"})
        products = []
        for product in seen.json["products"]:
            offerings = [
                {
                    **each,
                    "offering_id": next(self._numbers),
                    "is_deleted": False,
                    "price": {"amount": round(each["price"] * 100), "divisor": 100},
                }
                for each in product["offerings"]
            ]
            products.append({**product, "product_id": next(self._numbers), "offerings": offerings})
        self.inventories[key] = {"products": products}
        first = products[0]["offerings"][0]
        self.listings[key] |= {"quantity": first["quantity"], "price": first["price"]}
        return StubResponse(200, self.inventories[key])

    def _delete(self, _: RecordedRequest, key: str) -> StubResponse:
        if key not in self.listings:
            return StubResponse(404, {"error": "Resource not found"})
        del self.listings[key]
        self.deleted.append(key)
        return StubResponse(204)

    def _receipts(self, seen: RecordedRequest) -> StubResponse:
        since = int(seen.query["min_last_modified"][0])
        found = [each for each in self.receipts if each["created_timestamp"] >= since]
        return StubResponse(200, {"count": len(found), "results": found})


def _listed(form: dict[str, list[str]], name: str) -> list[str]:
    """Return a field's comma-separated values; only the last field of a name counts."""
    return [each for each in form.get(name, [""])[-1].split(",") if each]


def _results(found: Iterable[dict[str, Any]]) -> StubResponse:
    results = list(found)
    return StubResponse(200, {"count": len(results), "results": results})
