"""Examples of the document: products."""

from typing import Any, Final

from spinneret.runtime.http.declaration import Examples

_GIVEN: Final[dict[str, Any]] = {
    "title": "Wool coat, navy",
    "description": "Worn twice. Length 102 cm.",
    "price": 8900,
    "currency": "EUR",
    "quantity": 1,
    "images": ["https://images.example/coat-front.jpg", "https://images.example/coat-back.jpg"],
    "attributes": {"brand": "barbour", "color": "navy", "condition": "very_good", "size": "m"},
    "overrides": {"etsy": {"price": 9500, "category_id": "1837"}},
}
_OVERRIDE: Final[dict[str, Any]] = {
    "title": None,
    "description": None,
    "price": 9500,
    "category_id": "1837",
    "attributes": {},
    "choices": {},
}

PRODUCT: Final[Examples] = {
    "a coat, dearer on Etsy": {
        "request": _GIVEN,
        "answer": {
            **_GIVEN,
            "overrides": {"etsy": _OVERRIDE},
            "product_id": "prd_0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
            "sku": "prd0198c5a1d2e37f4a8b6c9d0e1f2a3b60",
            "created_at": "2026-01-02T12:00:00.000000Z",
            "updated_at": "2026-01-02T12:00:00.000000Z",
        },
    }
}
