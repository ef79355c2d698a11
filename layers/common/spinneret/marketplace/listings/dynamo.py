"""Listing records on DynamoDB.

Marketplace table
    pk `T#<tenant>#LISTINGS`, sk `<product id>#<marketplace>`   a record; a product's by prefix, a
                                                                tenant's in the order of products

Every write has the version that it was made from in its condition, and under a claim its fence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import optional_stamp, parse_optional_stamp
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.ids import is_id
from spinneret.marketplace.listings.models import Drift, Listing, ListingPage, ListingState

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_RECORD: Final = 0
_TIMES: Final = ("intent_at", "attempted_at", "last_sync_at", "updated_at")


class DynamoListingStore:
    """Implements ListingStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        self._client = client
        self._table = table
        self._jobs = jobs_table

    def get(self, tenant: str, product_id: str, marketplace: str) -> Listing | None:
        """See ListingStore."""
        if not is_id(product_id):
            return None
        key = {"pk": _partition(tenant), "sk": f"{product_id}#{marketplace}"}
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        found = answer.get("Item")
        return _listing(tenant, found) if found else None

    def of_product(self, tenant: str, product_id: str) -> list[Listing]:
        """See ListingStore."""
        if not is_id(product_id):
            return []
        with translated("dynamodb"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :pk AND begins_with(sk, :prefix)",
                ExpressionAttributeValues={
                    ":pk": _partition(tenant),
                    ":prefix": f"{product_id}#",
                },
                ConsistentRead=True,
            )
        return [_listing(tenant, item) for item in answer["Items"]]

    def page(self, tenant: str, after: str | None, limit: int) -> ListingPage:
        """See ListingStore."""
        condition, values = "pk = :pk", {":pk": _partition(tenant)}
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
        return ListingPage(
            listings=tuple(_listing(tenant, row) for row in shown),
            after=str(shown[-1]["sk"]) if len(rows) > limit else None,
        )

    def save(self, listing: Listing, lease: Lease | None = None) -> bool:
        """See ListingStore."""
        former = dynamo.equals(version=listing.version - 1 or None)
        writes = [dynamo.put(self._table, _item(listing), former)]
        if lease is not None:
            writes.append(lease_check(self._jobs, lease))
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _RECORD in failed.standing:
                return failed.standing[_RECORD] == _item(listing)
            raise LeaseLost("the job has moved on") from failed
        return True


def _partition(tenant: str) -> str:
    return f"T#{tenant}#LISTINGS"


def _item(listing: Listing) -> dict[str, Any]:
    kept = {
        "pk": _partition(listing.tenant),
        "sk": f"{listing.product_id}#{listing.marketplace}",
        "product_id": listing.product_id,
        "marketplace": listing.marketplace,
        "sku": listing.sku,
        "state": listing.state.value,
        "external_id": listing.external_id,
        "reference": listing.reference,
        "images": dict(listing.images),
        "url": listing.url,
        "digest": listing.digest,
        "generation": listing.generation,
        "intent_job": listing.intent_job,
        "attempted_titles": list(listing.attempted_titles) or None,
        "drift": [[each.field, each.ours, each.theirs] for each in listing.drift],
        "revised_on": listing.revised_on,
        "revisions": listing.revisions,
        "version": listing.version,
        **{name: optional_stamp(getattr(listing, name)) for name in _TIMES},
    }
    return {name: value for name, value in kept.items() if value is not None}


def _listing(tenant: str, item: dict[str, Any]) -> Listing:
    return Listing(
        tenant=tenant,
        product_id=item["product_id"],
        marketplace=item["marketplace"],
        sku=item["sku"],
        state=ListingState(item["state"]),
        external_id=item.get("external_id"),
        reference=item.get("reference"),
        images=item["images"],
        url=item.get("url"),
        digest=item.get("digest"),
        generation=int(item["generation"]),
        attempted_titles=tuple(item.get("attempted_titles", ())),
        intent_job=item.get("intent_job"),
        drift=tuple(Drift(field=a, ours=b, theirs=c) for a, b, c in item["drift"]),
        revised_on=item.get("revised_on"),
        revisions=int(item["revisions"]),
        version=int(item["version"]),
        intent_at=parse_optional_stamp(item.get("intent_at")),
        attempted_at=parse_optional_stamp(item.get("attempted_at")),
        last_sync_at=parse_optional_stamp(item.get("last_sync_at")),
        updated_at=parse_optional_stamp(item.get("updated_at")),
    )
