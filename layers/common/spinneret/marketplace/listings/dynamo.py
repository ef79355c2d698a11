"""Listing records on DynamoDB.

Marketplace table
    pk `T#<tenant>#LISTINGS`, sk `<product id>#<marketplace>`   a record; a product's are read by
                                                                prefix, a tenant's in product order

Every write checks the version that it was made from and, under a claim, the claim's fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.codec import SPARSE, Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import Table
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.marketplace.listings.models import Drift, Listing

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_RECORD: Final = 0


class DynamoListingStore:
    """Implements ListingStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        self._client = client
        self._rows = Table(client, table, LISTINGS)
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

    def save(self, listing: Listing, lease: Lease | None = None) -> bool:
        writes = [self._rows.put_write(listing, dynamo.equals(version=listing.version - 1 or None))]
        if lease is not None:
            writes.append(lease_check(self._jobs, lease))
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _RECORD in failed.standing:
                return failed.standing[_RECORD] == LISTINGS.encode(listing)
            raise LeaseLost("the job is no longer held by this claim") from failed
        return True


def _partition(tenant: str) -> str:
    return f"T#{tenant}#LISTINGS"


def _key(tenant: str, product_id: str, marketplace: str) -> Item:
    return {"pk": _partition(tenant), "sk": f"{product_id}#{marketplace}"}


def _drift(stored: list[list[str]]) -> list[dict[str, Any]]:
    return [{"field": name, "ours": ours, "theirs": theirs} for name, ours, theirs in stored]


def _stored_drift(drift: tuple[Drift, ...]) -> list[list[str]]:
    return [[each.field, each.ours, each.theirs] for each in drift]


LISTINGS: Final = Codec(
    Listing,
    key=lambda listing: _key(listing.tenant, listing.product_id, listing.marketplace),
    keyed=("tenant",),
    from_key=lambda item: {"tenant": tenant_of(item)},
    columns={
        "attempted_titles": SPARSE,
        "drift": Column(encode=_stored_drift, decode=_drift),
    },
)
