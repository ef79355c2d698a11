"""Sales on DynamoDB.

Marketplace table
    pk `T#<tenant>#ORDERS`, sk `<marketplace>#<order>#<line>`   a line of an order
    pk `T#<tenant>#READ`, sk `<marketplace>`                    when orders were read last

A sale and the product's stock (the attribute `quantity` of its row, see products) change in one
transaction, whose condition is that the sale is new and the stock is there.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.marketplace.orders.models import Sale, SaleOutcome, SalePage

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_SALES_OF_PRODUCT: Final = 100
_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})


class DynamoSaleStore:
    """Implements SaleStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        self._client = client
        self._table = table

    def get(self, tenant: str, key: str) -> Sale | None:
        """See SaleStore."""
        found = self._read({"pk": f"T#{tenant}#ORDERS", "sk": key})
        return _sale(tenant, found) if found else None

    def reserve(self, sale: Sale) -> bool:
        """See SaleStore."""
        product = {"pk": f"T#{sale.tenant}#PRODUCTS", "sk": str(sale.product_id)}
        take = (
            "SET #quantity = #quantity - :sold, #version = #version + :one",
            {":sold": sale.quantity, ":one": 1},
        )
        there: dynamo.Condition = ("#quantity >= :sold", {":sold": sale.quantity})
        writes = [
            dynamo.put(self._table, _item(sale), _NEW),
            dynamo.change(self._table, product, take, there),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return False
        return True

    def put(self, sale: Sale) -> None:
        """See SaleStore."""
        dynamo.transact(self._client, [dynamo.put(self._table, _item(sale))])

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        """See SaleStore; a filter over the tenant's sales, newest order ids last."""
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk",
                FilterExpression="product_id = :product",
                ExpressionAttributeValues={":pk": f"T#{tenant}#ORDERS", ":product": product_id},
                ConsistentRead=True,
            )
        return [_sale(tenant, item) for item in answer["Items"]][:_SALES_OF_PRODUCT]

    def page(self, tenant: str, after: str | None, limit: int) -> SalePage:
        """See SaleStore."""
        condition, values = "pk = :pk", {":pk": f"T#{tenant}#ORDERS"}
        if after is not None:
            condition += " AND sk > :after"
            values[":after"] = after
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression=condition,
                ExpressionAttributeValues=values,
                ConsistentRead=True,
                Limit=limit + 1,
            )
        rows: list[dict[str, Any]] = answer["Items"]
        shown = rows[:limit]
        return SalePage(
            sales=tuple(_sale(tenant, row) for row in shown),
            after=str(shown[-1]["sk"]) if len(rows) > limit else None,
        )

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        """See SaleStore."""
        found = self._read({"pk": f"T#{tenant}#READ", "sk": marketplace})
        return parse_stamp(str(found["read_at"])) if found else None

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        """See SaleStore."""
        item = {"pk": f"T#{tenant}#READ", "sk": marketplace, "read_at": stamp(moment)}
        dynamo.transact(self._client, [dynamo.put(self._table, item)])

    def _read(self, key: dict[str, str]) -> dict[str, Any] | None:
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return answer.get("Item")


def _item(sale: Sale) -> dict[str, Any]:
    kept = {
        "pk": f"T#{sale.tenant}#ORDERS",
        "sk": sale.key,
        "sku": sale.sku,
        "quantity": sale.quantity,
        "sold_at": sale.sold_at,
        "product_id": sale.product_id,
        "outcome": sale.outcome.value,
        "conflicts_with": list(sale.conflicts_with),
        "handled": sale.handled,
        "recorded_at": sale.recorded_at,
    }
    return {name: value for name, value in kept.items() if value is not None}


def _sale(tenant: str, item: dict[str, Any]) -> Sale:
    marketplace, order_id, line_id = item["sk"].split("#")
    return Sale(
        tenant=tenant,
        marketplace=marketplace,
        order_id=order_id,
        line_id=line_id,
        sku=item["sku"],
        quantity=int(item["quantity"]),
        sold_at=item["sold_at"],
        product_id=item.get("product_id"),
        outcome=SaleOutcome(item["outcome"]),
        conflicts_with=tuple(item["conflicts_with"]),
        handled=item["handled"],
        recorded_at=item["recorded_at"],
    )
