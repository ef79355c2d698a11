"""Sellers of the deployed application, and their products."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.e2e.conftest import Deployed, Tenant

IMAGE = "https://images.example/front.jpg"
"""eBay accepts only https, and fetches the images itself."""


def connect(deployed: Deployed, seller: Tenant, marketplace: str) -> None:
    """Connect the marketplace as a browser does."""
    begun = seller("POST", f"/api/marketplace/{marketplace}/connect")
    assert begun.status_code == 200, begun.text
    query = parse_qs(urlsplit(begun.json()["authorization_url"]).query)
    answer = httpx.get(
        f"{deployed.api_url}/api/marketplace/{marketplace}/callback",
        params={"state": query["state"][0], "code": "code-1"},
        trust_env=False,
        timeout=40,
    )
    assert answer.status_code == 302, answer.text
    assert "connected=true" in answer.headers["Location"], answer.headers["Location"]


def connected_seller(deployed: Deployed) -> Tenant:
    """Return a tenant that has connected eBay and Etsy."""
    tenant = deployed.tenant(scope="admin")
    for marketplace in ("ebay", "etsy"):
        connect(deployed, tenant, marketplace)
        shown = tenant("GET", f"/api/marketplace/{marketplace}/connection").json()
        assert shown["status"] == "active"
        assert "token" not in json.dumps(shown)
    return tenant


def made_product(seller: Tenant, title: str, image: str = IMAGE) -> dict[str, Any]:
    """Return a new product of the seller."""
    answer = seller(
        "POST",
        "/api/products",
        {
            "title": title,
            "description": "Worn twice.",
            "price": 8900,
            "images": [image],
            "attributes": {"brand": "barbour", "condition": "good"},
            "overrides": {"etsy": {"category_id": "1837"}, "vinted": {"category_id": "99"}},
        },
    )
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made
