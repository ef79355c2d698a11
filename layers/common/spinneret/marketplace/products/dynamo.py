"""Products on DynamoDB: rows of kind `product` in the Marketplace table, named by their SKUs (see
aws.named_rows)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import Codec, to_attribute
from spinneret.aws.dynamo import Item
from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.marketplace.products.models import Product

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoProductStore:
    """Implements ProductStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table
        self._rows = NamedItemTable(client, table, "product")

    def add(self, product: Product) -> None:
        """See ProductStore."""
        try:
            self._rows.add(_row(product))
        except Conflict as error:
            raise _taken() from error

    def get(self, tenant: str, product_id: str) -> Product | None:
        """See ProductStore."""
        row = self._rows.get(tenant, product_id)
        return None if row is None else _product(row)

    def find(self, tenant: str, sku: str) -> Product | None:
        """See ProductStore."""
        row = self._rows.find(tenant, sku) if is_id(sku) else None
        return None if row is None else _product(row)

    def existing(self, tenant: str, product_ids: Sequence[str]) -> frozenset[str]:
        """See ProductStore."""
        wanted = [
            {"pk": f"T#{tenant}#PRODUCTS", "sk": each} for each in {*product_ids} if is_id(each)
        ]
        rows = dynamo.batch_get(self._client, self._table, wanted, ["sk"]) if wanted else []
        return frozenset(str(row["sk"]) for row in rows)

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Product]:
        """See ProductStore."""
        rows, last = self._rows.page(tenant, after, limit)
        return Page(items=tuple(map(_product, rows)), after=last)

    def replace(self, former: Product, product: Product) -> bool:
        """See ProductStore."""
        try:
            return self._rows.replace(_row(former), _row(product))
        except Conflict as error:
            raise _taken() from error

    def remove(self, product: Product) -> bool:
        """See ProductStore."""
        return self._rows.remove(_row(product))


def _taken() -> Conflict:
    return Conflict("another product has this SKU", details={"field": "sku"})


def _row(product: Product) -> NamedItem:
    return NamedItem(
        tenant=product.tenant,
        id=product.id,
        name=product.sku,
        version=product.version,
        attributes=PRODUCTS.encode(product),
    )


def _product(row: NamedItem) -> Product:
    named = {"tenant": row.tenant, "id": row.id, "sku": row.name, "version": row.version}
    return PRODUCTS.decode({**row.attributes, **named})


_NAMED: Final = ("tenant", "id", "sku", "version")
_CONTENT: Final = (
    "title",
    "description",
    "price",
    "currency",
    "quantity",
    "images",
    "attributes",
)


def _from_item(item: Item) -> Item:
    content = {name: item[name] for name in _CONTENT}
    return {**{name: item[name] for name in _NAMED}, "content": content}


PRODUCTS: Final = Codec(
    Product,
    key=lambda _: {},  # a NamedItem has it
    keyed=(*_NAMED, "content"),
    from_key=_from_item,
    derived=lambda product: {
        name: to_attribute(getattr(product.content, name)) for name in _CONTENT
    },
)
