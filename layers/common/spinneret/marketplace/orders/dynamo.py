"""Sales on DynamoDB.

Marketplace table
    pk `T#<tenant>#ORDERS`, sk `<marketplace>#<order>#<line>`   a line of an order
    pk `T#<tenant>#READ`, sk `<marketplace>`                    when orders were read last
    pk `OPENSALES`, sk `<tenant>#<marketplace>#<order>#<line>`  a sale that another marketplace
                                                                doesn't show yet: what the
                                                                passes over all tenants read
    pk `POSITIONS`, sk `<walk>`                                 how far a walk has come

A sale and the product's stock (the attribute `quantity` of its row, see products) change in one
transaction, whose condition is that the sale is new and the stock is there.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.kernel.clock import parse_stamp, stamp
from spinneret.kernel.paging import Page
from spinneret.marketplace.orders.models import Adjustment, AdjustmentState, Sale, SaleOutcome

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef

_SALES_OF_PRODUCT: Final = 100
_WHATEVER: Final[dynamo.Condition] = (
    "attribute_exists(#pk) OR attribute_not_exists(#pk)",
    {},
)
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
            self._opened(sale),
            dynamo.change(self._table, product, take, there),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return False
        return True

    def put(self, sale: Sale) -> bool:
        """See SaleStore; a sale of before there were versions is one of version 0."""
        former = dynamo.equals(version=sale.version - 1 or None)
        writes = [dynamo.put(self._table, _item(sale), former), self._opened(sale)]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed:
            return False
        return True

    def _opened(self, sale: Sale) -> TransactWriteItemTypeDef:
        """The row that the passes find it by, or its end."""
        key = {"pk": "OPENSALES", "sk": f"{sale.tenant}#{sale.key}"}
        if sale.handled:
            return dynamo.delete(self._table, key, _WHATEVER)
        return dynamo.put(self._table, key)

    def open(self, after: str | None, limit: int) -> Page[tuple[str, str]]:
        """See SaleStore."""
        rows, more = self._rows("OPENSALES", after, limit)
        keys = [tuple(row["sk"].split("#", 1)) for row in rows]
        return Page(items=tuple((tenant, key) for tenant, key in keys), after=more)

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        """See SaleStore; a filter over the tenant's sales, newest order ids last."""
        found: list[Sale] = []
        request: QueryInputTypeDef = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk",
            "FilterExpression": "product_id = :product",
            "ExpressionAttributeValues": {":pk": f"T#{tenant}#ORDERS", ":product": product_id},
            "ConsistentRead": True,
        }
        while len(found) < _SALES_OF_PRODUCT:
            with translated("dynamodb"):
                answer = self._client.query(**request)
            found += [_sale(tenant, item) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:  # a page is filtered after it was read
                break
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        return found[:_SALES_OF_PRODUCT]

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        """See SaleStore."""
        rows, more = self._rows(f"T#{tenant}#ORDERS", after, limit)
        return Page(items=tuple(_sale(tenant, row) for row in rows), after=more)

    def _rows(
        self, partition: str, after: str | None, limit: int
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Up to `limit` rows, and the position to go on after."""
        condition, values = "pk = :pk", {":pk": partition}
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
        return rows[:limit], str(rows[limit - 1]["sk"]) if len(rows) > limit else None

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        """See SaleStore."""
        found = self._read({"pk": f"T#{tenant}#READ", "sk": marketplace})
        return parse_stamp(str(found["read_at"])) if found else None

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        """See SaleStore."""
        item = {"pk": f"T#{tenant}#READ", "sk": marketplace, "read_at": stamp(moment)}
        dynamo.transact(self._client, [dynamo.put(self._table, item)])

    def position(self, walk: str) -> str | None:
        """See SaleStore."""
        found = self._read({"pk": "POSITIONS", "sk": walk})
        return str(found["after"]) if found and "after" in found else None

    def keep_position(self, walk: str, after: str | None) -> None:
        """See SaleStore."""
        item = {"pk": "POSITIONS", "sk": walk, **({} if after is None else {"after": after})}
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
        "adjustments": [
            {
                "marketplace": each.marketplace,
                "job_id": each.job_id,
                "asked_at": stamp(each.asked_at),
                "times": each.times,
                "state": each.state.value,
            }
            for each in sale.adjustments
        ],
        "handled": sale.handled,
        "recorded_at": sale.recorded_at,
        "version": sale.version,
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
        adjustments=tuple(
            Adjustment(
                marketplace=each["marketplace"],
                job_id=each["job_id"],
                asked_at=parse_stamp(each["asked_at"]),
                times=int(each["times"]),
                state=AdjustmentState(each["state"]),
            )
            for each in item.get("adjustments", ())
        ),
        handled=item["handled"],
        recorded_at=item["recorded_at"],
        version=int(item.get("version", 0)),
    )
