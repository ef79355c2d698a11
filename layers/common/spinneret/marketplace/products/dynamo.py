"""Products on DynamoDB: rows of kind `product` in the Marketplace table, named by their SKUs (see
aws.named_rows)."""

from collections.abc import Sequence
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, Column
from spinneret.aws.named_rows import KEYED, NamedRows, from_key
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel.ids import is_id
from spinneret.marketplace.products.models import Product, ProductContent


class DynamoProductStore(NamedRows[Product]):
    """Implements ProductStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table, "product", PRODUCTS, called="SKU")

    def find(self, tenant: str, name: str) -> Product | None:
        return super().find(tenant, name) if is_id(name) else None

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        wanted = [self._key(tenant, each) for each in {*product_ids} if is_id(each)]
        rows = dynamo.batch_get(self._client, self._table, wanted, ["sk"]) if wanted else []
        return frozenset(str(row["sk"]) for row in rows)


def product_key(tenant: str, product_id: str) -> dynamo.Item:
    """Return the primary key of a product's row, for writes of other rows that depend on it."""
    return {"pk": f"T#{tenant}#PRODUCTS", "sk": product_id}


CONTENT: Final = Codec(ProductContent, keyed=("category_id", "choices"))
"""Attributes of a product's row; categories and choices belong to marketplaces."""

PRODUCTS: Final = Codec(
    Product,
    keyed=(*KEYED, "content"),
    from_key=lambda item: {**from_key(item), "content": CONTENT.decode(item)},
    columns={"sku": Column(attribute="name")},
    derived=lambda product: CONTENT.encode(product.content),
)
