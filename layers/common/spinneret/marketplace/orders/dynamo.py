"""Sales on DynamoDB.

Marketplace table
    pk `T#<tenant>#ORDERS`, sk `<marketplace>#<order>#<line>`   a line of an order
    pk `T#<tenant>#READ`, sk `<marketplace>`                    time of the last reading of orders
    pk `OPENSALES`, sk `<tenant>#<marketplace>#<order>#<line>`  a sale that another marketplace
                                                                doesn't show yet, for the passes
                                                                over all tenants
    pk `POSITIONS`, sk `<walk>`                                 position of a walk

A sale and the product's stock (the attribute `quantity` of its row, see products) change in one
transaction, on condition that nobody else changed the sale and the stock suffices.
"""

from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import SPARSE, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import page_of
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.kernel.clock import parse_stamp, to_iso
from spinneret.kernel.paging import Page
from spinneret.marketplace.orders.models import Sale
from spinneret.marketplace.products.dynamo import product_key

_SALES_OF_PRODUCT: Final = 100


class DynamoSaleStore(DynamoAdapter):
    """Implements SaleStore."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        super().__init__(client, table)
        self._sales = Table(client, table, SALES)

    def get(self, tenant: str, key: str) -> Sale | None:
        return self._sales.get({"pk": _partition(tenant), "sk": key})

    def reserve(self, sale: Sale) -> bool:
        product = product_key(sale.tenant, str(sale.product_id))
        take = (
            "SET #quantity = #quantity - :sold, #version = #version + :one",
            {":sold": sale.quantity, ":one": 1},
        )
        there: dynamo.Condition = ("#quantity >= :sold", {":sold": sale.quantity})
        former = dynamo.ABSENT if sale.version == 1 else dynamo.equals(version=sale.version - 1)
        writes = [
            self._sales.put_write(sale, former),
            self._opened(sale),
            dynamo.change(self._table, product, take, there),
        ]
        return dynamo.transact_if(self._client, writes)

    def give_back(self, sale: Sale) -> bool:
        product = product_key(sale.tenant, str(sale.product_id))
        give = (
            "SET #quantity = #quantity + :back, #version = #version + :one",
            {":back": sale.quantity, ":one": 1},
        )
        writes = [
            self._sales.put_write(sale, _former(sale)),
            self._opened(sale),
            dynamo.change(self._table, product, give, dynamo.PRESENT),
        ]
        return dynamo.transact_if(self._client, writes)

    def put(self, sale: Sale) -> bool:
        """See SaleStore; a sale stored before versions existed counts as version 0."""
        writes = [self._sales.put_write(sale, _former(sale)), self._opened(sale)]
        return dynamo.transact_if(self._client, writes)

    def _opened(self, sale: Sale) -> TransactWriteItemTypeDef:
        """Build the write of the row by which the passes find the sale; delete the row of a handled
        sale."""
        key = {"pk": "OPENSALES", "sk": f"{sale.tenant}#{sale.key}"}
        if sale.handled:
            return dynamo.delete(self._table, key)
        return dynamo.put(self._table, key)

    def open(self, after: str | None, limit: int) -> Page[tuple[str, str]]:
        return page_of(self._client, self._table, "OPENSALES", after, limit).map(_named)

    def of_product(self, tenant: str, product_id: str) -> list[Sale]:
        """See SaleStore; filters the tenant's sales, in key order."""
        return self._sales.query_all(
            "pk = :pk",
            {":pk": _partition(tenant), ":product": product_id},
            _SALES_OF_PRODUCT,
            FilterExpression="product_id = :product",
        )

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Sale]:
        return self._sales.page(_partition(tenant), after, limit)

    def since(self, tenant: str, marketplace: str) -> datetime | None:
        found = dynamo.get(self._client, self._table, {"pk": f"T#{tenant}#READ", "sk": marketplace})
        return parse_stamp(str(found["read_at"])) if found else None

    def remember(self, tenant: str, marketplace: str, moment: datetime) -> None:
        item = {"pk": f"T#{tenant}#READ", "sk": marketplace, "read_at": to_iso(moment)}
        dynamo.transact(self._client, [dynamo.put(self._table, item)])

    def position(self, walk: str) -> str | None:
        found = dynamo.get(self._client, self._table, {"pk": "POSITIONS", "sk": walk})
        return str(found["after"]) if "after" in found else None

    def keep_position(self, walk: str, after: str | None) -> None:
        item = {"pk": "POSITIONS", "sk": walk, **({} if after is None else {"after": after})}
        dynamo.transact(self._client, [dynamo.put(self._table, item)])


def _partition(tenant: str) -> str:
    return f"T#{tenant}#ORDERS"


def _former(sale: Sale) -> dynamo.Condition:
    """Require the version before the sale's."""
    return dynamo.equals(version=sale.version - 1 or None)


def _named(row: Item) -> tuple[str, str]:
    """Return the tenant and the key of an open sale."""
    tenant, _, key = row["sk"].partition("#")
    return tenant, key


def _from_key(item: Item) -> Item:
    marketplace, order_id, line_id = item["sk"].split("#")
    return {
        "tenant": tenant_of(item),
        "marketplace": marketplace,
        "order_id": order_id,
        "line_id": line_id,
    }


SALES: Final = Codec(
    Sale,
    key=lambda sale: {"pk": _partition(sale.tenant), "sk": sale.key},
    keyed=("tenant", "marketplace", "order_id", "line_id"),
    from_key=_from_key,
    columns={"ended": SPARSE, "turn": SPARSE},
)
