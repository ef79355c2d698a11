"""Rows with unique names, as stored in all releases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.content.collections.dynamo import COLLECTIONS
from spinneret.content.collections.models import Collection
from spinneret.content.tags.dynamo import TAGS
from spinneret.content.tags.models import Tag
from spinneret.crawl.configs.dynamo import CONFIGS
from spinneret.crawl.configs.models import Config, ConfigOptions
from spinneret.marketplace.products.dynamo import PRODUCTS
from spinneret.marketplace.products.models import Product, ProductContent, ProductOverride
from spinneret.web.proxies.dynamo import CONFIGS as PROXIES
from spinneret.web.proxies.models import ProxyConfig, ProxyServer, RotationStrategy
from tests.contract.exact_rows import check_read, check_row
from tests.fakes.time import START
from tests.rows import each_row

LATER = START + timedelta(days=1)
STAMPS = {
    "created_at": "2026-01-02T12:00:00.000000Z",
    "updated_at": "2026-01-02T12:00:00.000000Z",
}
OWN: dict[str, Any] = {"tenant": "acme", "id": "row_1", "name": "silk", "created_at": START}

TAG = Tag(**OWN)
TAG_ROW = {"name": "silk", "created_at": "2026-01-02T12:00:00.000000Z", "version": 1}

COLLECTION = Collection(**OWN, description=None, updated_at=START)
COLLECTION_ROW = {"name": "silk", "description": None, "version": 1, **STAMPS}
FULL_COLLECTION = replace(COLLECTION, description="Ü", updated_at=LATER, version=5)
FULL_COLLECTION_ROW = {
    **COLLECTION_ROW,
    "description": "Ü",
    "updated_at": "2026-01-03T12:00:00.000000Z",
    "version": 5,
}

CONFIG = Config(**OWN, options=ConfigOptions(), updated_at=START)
FORMER_CONFIG_ROW = {  # from a release that didn't render pages
    "name": "silk",
    "options": '{"max_depth": 0, "rate_limit_rps": 1.0, "respect_robots_txt": true,'
    ' "extraction_strategy": "markdown", "keep_link_targets": true,'
    ' "chunking_strategy": "sliding_window", "chunk_size": 512, "chunk_overlap": 50,'
    ' "min_chunk_size": 50, "page_timeout_ms": 30000, "max_page_size_mb": 50,'
    ' "max_redirects": 10, "proxy_config_id": null}',
    "shown_headers": "{}",
    "version": 1,
    **STAMPS,
}
CONFIG_ROW = {
    **FORMER_CONFIG_ROW,
    "options": FORMER_CONFIG_ROW["options"].replace(
        "null}", 'null, "render": false, "wait_for": null, "wait_seconds": 0.0}'
    ),
}
FULL_CONFIG = replace(
    CONFIG,
    options=ConfigOptions(rate_limit_rps=0.25, proxy_config_id="proxy_1"),
    shown_headers={"Ä": "[REDACTED]"},
    sealed_headers=b"\x00s",
)
FULL_CONFIG_ROW = {
    **CONFIG_ROW,
    "options": CONFIG_ROW["options"]
    .replace("1.0", "0.25")
    .replace('"proxy_config_id": null', '"proxy_config_id": "proxy_1"'),
    "shown_headers": '{"\\u00c4": "[REDACTED]"}',
    "sealed_headers": b"\x00s",
}

PRODUCT = Product(
    tenant="acme",
    id="row_1",
    sku="S-1",
    content=ProductContent(
        title="t",
        description="d",
        price=100,
        currency="EUR",
        quantity=3,
        images=(),
        attributes={},
    ),
    overrides={},
    created_at=START,
    updated_at=START,
)
PRODUCT_ROW = {
    "name": "S-1",
    "title": "t",
    "description": "d",
    "price": 100,
    "currency": "EUR",
    "quantity": 3,
    "images": [],
    "attributes": {},
    "overrides": {},
    "version": 1,
    **STAMPS,
}
FULL_PRODUCT = replace(
    PRODUCT,
    content=replace(PRODUCT.content, images=("a", "b"), attributes={"x": "y"}),
    overrides={
        "ebay": ProductOverride(
            title="o",
            description="d",
            price=5,
            category_id="c",
            attributes={"k": "v"},
            choices={"shop_section": "7"},
        ),
        "etsy": ProductOverride(),
    },
)
FULL_PRODUCT_ROW = {
    **PRODUCT_ROW,
    "images": ["a", "b"],
    "attributes": {"x": "y"},
    "overrides": {
        "ebay": {
            "title": "o",
            "description": "d",
            "price": 5,
            "category_id": "c",
            "attributes": {"k": "v"},
            "choices": {"shop_section": "7"},
        },
        "etsy": {
            "title": None,
            "description": None,
            "price": None,
            "category_id": None,
            "attributes": {},
            "choices": {},
        },
    },
}

PROXY = ProxyConfig(
    **OWN,
    servers=(
        ProxyServer(url="http://a"),
        ProxyServer(url="http://b", sealed_credentials=b"c"),
    ),
    strategy=RotationStrategy.ROUND_ROBIN,
    is_active=False,
    updated_at=START,
)
PROXY_ROW = {
    "name": "silk",
    "servers": [{"url": "http://a"}, {"url": "http://b", "credentials": b"c"}],
    "strategy": "round_robin",
    "is_active": False,
    "version": 1,
    **STAMPS,
}


@each_row(
    [
        ("a tag", (TAGS, TAG, TAG_ROW)),
        ("a collection", (COLLECTIONS, COLLECTION, COLLECTION_ROW)),
        ("a collection with everything", (COLLECTIONS, FULL_COLLECTION, FULL_COLLECTION_ROW)),
        ("a crawl config", (CONFIGS, CONFIG, CONFIG_ROW)),
        ("a crawl config with everything", (CONFIGS, FULL_CONFIG, FULL_CONFIG_ROW)),
        ("a product", (PRODUCTS, PRODUCT, PRODUCT_ROW)),
        ("a product with everything", (PRODUCTS, FULL_PRODUCT, FULL_PRODUCT_ROW)),
        ("a proxy config", (PROXIES, PROXY, PROXY_ROW)),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row, key={"pk": "T#acme#ROWS", "sk": "row_1"})


def test_an_override_from_before_choices_is_read() -> None:
    former = dict.fromkeys(("title", "description", "price", "category_id"))
    row = {**PRODUCT_ROW, "overrides": {"etsy": {**former, "attributes": {}}}}
    product = replace(PRODUCT, overrides={"etsy": ProductOverride()})
    check_read(PRODUCTS, product, {**row, "pk": "T#acme#ROWS", "sk": "row_1"})


def test_a_config_from_before_pages_were_rendered_is_read() -> None:
    check_read(CONFIGS, CONFIG, {**FORMER_CONFIG_ROW, "pk": "T#acme#ROWS", "sk": "row_1"})
