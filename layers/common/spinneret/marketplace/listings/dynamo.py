"""Listing records on DynamoDB.

Marketplace table
    pk `T#<tenant>#LISTINGS`, sk `<product id>#<marketplace>`   a record; a product's are read by
                                                                prefix, a tenant's in product order
    pk `T#<tenant>#LISTED`, sk `<marketplace>#<external id>`    the product that holds the id

Every write checks the version that it was made from and, under a claim, the claim's fence. The one
that begins a listing also checks that the product has the record's SKU, and raises the product's
version (rows of products: see products): a change of the SKU or a removal that was decided before
the listing began then fails. A record and the rows of its ids change in one transaction, so that no
crash leaves an id taken without its record. A row of a removed product counts for nothing.
"""

from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import SPARSE, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import Conflict, Contended, LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.marketplace.listings.models import Listing, drift_rows
from spinneret.marketplace.listings.rules import held_by, is_begun
from spinneret.marketplace.products.dynamo import DynamoProductStore, product_key
from spinneret.marketplace.products.models import Product

_RECORD: Final = 0
_RACES: Final = 5  # concurrent changes of one id's row are rare


class DynamoListingStore(DynamoAdapter):
    """Implements ListingStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, LISTINGS)
        self._products = DynamoProductStore(client, table)
        self._jobs = jobs_table

    def get(self, tenant: str, product_id: str, marketplace: str) -> Listing | None:
        return self._rows.get(_key(tenant, product_id, marketplace)) if is_id(product_id) else None

    def of_product(self, tenant: str, product_id: str) -> list[Listing]:
        if not is_id(product_id):
            return []
        return self._rows.query_all(
            "pk = :pk AND begins_with(sk, :prefix)",
            {":pk": _partition(tenant), ":prefix": f"{product_id}#"},
        )

    def page(self, tenant: str, after: str | None, limit: int) -> Page[Listing]:
        return self._rows.page(_partition(tenant), after, limit)

    def holder(self, tenant: str, marketplace: str, external_id: str) -> str | None:
        found = dynamo.get(self._client, self._table, _held_key(tenant, marketplace, external_id))
        return str(found["product_id"]) if found else None

    def add(self, product: Product, listing: Listing, lease: Lease) -> None:
        holders = dict.fromkeys(sorted(listing.held), listing.product_id)
        for each in holders:
            holder = self.holder(listing.tenant, listing.marketplace, each)
            if holder is not None:
                self._require_removed(listing, each, holder)
                holders[each] = holder
        writes = [
            lease_check(self._jobs, lease),
            self._rows.put_write(listing),  # a new product has no record
            *(self._take(listing, each, holder) for each, holder in holders.items()),
            *self._products.new_writes(product),
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if 0 in failed.standing:
                raise LeaseLost("the job is no longer held by this claim") from failed
            raise Conflict("the product's SKU or its listing is taken") from failed

    def save(self, former: Listing | None, listing: Listing, lease: Lease | None = None) -> bool:
        changed = self._rows.put_write(listing, dynamo.equals(version=listing.version - 1 or None))
        fence = [] if lease is None else [lease_check(self._jobs, lease)]
        begun = [self._begin(listing)] if is_begun(former, listing) else []
        # Ids with the product that their rows may have.
        taken = dict.fromkeys(sorted(listing.held), listing.product_id)
        released = sorted((former.held if former is not None else frozenset()) - listing.held)
        for _ in range(_RACES):
            ids = [
                *(self._take(listing, each, holder) for each, holder in taken.items()),
                *(self._release(listing, each) for each in released),
            ]
            try:
                dynamo.transact(self._client, [changed, *fence, *begun, *ids])
            except dynamo.ConditionFailed as failed:
                if _RECORD in failed.standing:
                    return failed.standing[_RECORD] == LISTINGS.encode(listing)
                if fence and len(fence) in failed.standing:
                    raise LeaseLost("the job is no longer held by this claim") from failed
                if begun and len(fence) + 1 in failed.standing:
                    return False
                others = {_id_of(row): str(row["product_id"]) for row in failed.standing.values()}
                released = [each for each in released if each not in others]  # they aren't ours
                for each in taken.keys() & others.keys():
                    self._require_removed(listing, each, others[each])
                    taken[each] = others[each]
            else:
                return True
        raise Contended("the listing's id is changing", retry_after=1)

    def _take(self, listing: Listing, external_id: str, holder: str) -> TransactWriteItemTypeDef:
        """Build the write that gives the id to the listing's product; an existing row must be
        `holder`'s."""
        row = {
            **_held_key(listing.tenant, listing.marketplace, external_id),
            "product_id": listing.product_id,
        }
        return dynamo.put(self._table, row, _owned_by(holder))

    def _release(self, listing: Listing, external_id: str) -> TransactWriteItemTypeDef:
        key = _held_key(listing.tenant, listing.marketplace, external_id)
        return dynamo.delete(self._table, key, _owned_by(listing.product_id))

    def _begin(self, listing: Listing) -> TransactWriteItemTypeDef:
        """Build the write that raises the version of the listing's product, which must have the
        listing's SKU."""
        key = product_key(listing.tenant, listing.product_id)
        change = ("SET #version = #version + :one", {":one": 1})
        return dynamo.change(self._table, key, change, dynamo.equals(name=listing.sku))

    def _require_removed(self, listing: Listing, external_id: str, holder: str) -> None:
        """Raise Conflict if the product that holds the id exists."""
        if dynamo.get(self._client, self._table, product_key(listing.tenant, holder)):
            raise held_by(holder, listing.marketplace, external_id)


def _partition(tenant: str) -> str:
    return f"T#{tenant}#LISTINGS"


def _key(tenant: str, product_id: str, marketplace: str) -> Item:
    return {"pk": _partition(tenant), "sk": f"{product_id}#{marketplace}"}


def _held_key(tenant: str, marketplace: str, external_id: str) -> Item:
    return {"pk": f"T#{tenant}#LISTED", "sk": f"{marketplace}#{external_id}"}


def _id_of(row: Item) -> str:
    return str(row["sk"]).partition("#")[2]


def _owned_by(product_id: str) -> dynamo.Condition:
    """Require that the row is missing or the product's."""
    return "attribute_not_exists(#pk) OR #product_id = :holder", {":holder": product_id}


def _drift(stored: list[list[str]]) -> list[dict[str, Any]]:
    return [{"field": name, "ours": ours, "theirs": theirs} for name, ours, theirs in stored]


LISTINGS: Final = Codec(
    Listing,
    key=lambda listing: _key(listing.tenant, listing.product_id, listing.marketplace),
    keyed=("tenant",),
    from_key=lambda item: {"tenant": tenant_of(item)},
    columns={
        "attempted_titles": SPARSE,
        "has_tags": SPARSE,
        "drift": Column(encode=drift_rows, decode=_drift),
    },
)
