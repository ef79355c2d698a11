"""Products on DynamoDB: rows of kind `product` in the Marketplace table, named by their SKUs (see
aws.named_rows)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.named_rows import NamedItem, NamedItemTable
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.errors import Conflict
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.marketplace.products.models import Content, Override, Product

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
        if not is_id(sku):
            return None
        key = {"pk": f"T#{tenant}#PRODUCTNAMES", "sk": sku}
        with translate_aws_errors("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        found = answer.get("Item")
        return self.get(tenant, str(found["row_id"])) if found else None

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
    content = product.content
    return NamedItem(
        tenant=product.tenant,
        id=product.id,
        name=product.sku,
        version=product.version,
        attributes={
            "title": content.title,
            "description": content.description,
            "price": content.price,
            "currency": content.currency,
            "quantity": content.quantity,
            "images": list(content.images),
            "attributes": dict(content.attributes),
            "overrides": {name: _override_item(each) for name, each in product.overrides.items()},
            "created_at": to_iso(product.created_at),
            "updated_at": to_iso(product.updated_at),
        },
    )


def _override_item(override: Override) -> dict[str, Any]:
    return {
        "title": override.title,
        "description": override.description,
        "price": override.price,
        "category_id": override.category_id,
        "attributes": dict(override.attributes),
    }


def _product(row: NamedItem) -> Product:
    kept = row.attributes
    return Product(
        tenant=row.tenant,
        id=row.id,
        sku=row.name,
        content=Content(
            title=kept["title"],
            description=kept["description"],
            price=int(kept["price"]),
            currency=kept["currency"],
            quantity=int(kept["quantity"]),
            images=tuple(kept["images"]),
            attributes=kept["attributes"],
        ),
        overrides={name: _override(each) for name, each in kept["overrides"].items()},
        created_at=parse_stamp(kept["created_at"]),
        updated_at=parse_stamp(kept["updated_at"]),
        version=row.version,
    )


def _override(item: Mapping[str, Any]) -> Override:
    price = item["price"]
    return Override(
        title=item["title"],
        description=item["description"],
        price=None if price is None else int(price),
        category_id=item["category_id"],
        attributes=item["attributes"],
    )
