"""Imports on DynamoDB.

Marketplace table
    pk `T#<tenant>#IMPORTED#<job id>`, sk `<external id>`   a listing that was read
    pk `T#<tenant>#IMPORT#<job id>`, sk `POSITION`          `after`, the position of the next page

Every write checks the fence of its claim. `purge_at` is DynamoDB's TTL.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.codec import JSON, SPARSE, Codec, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient
from spinneret.jobs.dynamo import transact_under_lease
from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.marketplace.imports.models import ImportedListing


class DynamoListingImportStore(DynamoAdapter):
    """Implements ListingImportStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._rows = Table(client, table, IMPORTED)
        self._jobs = jobs_table

    def position(self, ref: JobRef) -> str | None:
        found = dynamo.get(self._client, self._table, _position_key(ref))
        return str(found["after"]) if found else None

    def keep(
        self, lease: Lease, listings: Sequence[ImportedListing], after: str | None, now: datetime
    ) -> None:
        writes = [self._rows.put_write(each) for each in listings]
        if after is not None:
            ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
            row = {**_position_key(ref), "after": after, "purge_at": _purge_at(now)}
            writes.append(dynamo.put(self._table, row))
        transact_under_lease(self._client, self._jobs, lease, writes)

    def decide(self, lease: Lease, listing: ImportedListing) -> None:
        transact_under_lease(self._client, self._jobs, lease, [self._rows.put_write(listing)])

    def page(self, ref: JobRef, after: str | None, limit: int) -> Page[ImportedListing]:
        if not is_id(ref.job_id):
            return Page(items=(), after=None)
        return self._rows.page(_partition(ref.tenant, ref.job_id), after, limit)


def _partition(tenant: str, job_id: str) -> str:
    return f"T#{tenant}#IMPORTED#{job_id}"


def _position_key(ref: JobRef) -> Item:
    return {"pk": f"T#{ref.tenant}#IMPORT#{ref.job_id}", "sk": "POSITION"}


def _purge_at(now: datetime) -> int:
    return epoch_seconds(now) + bounds.JOB_ROWS_SECONDS


IMPORTED: Final = Codec(
    ImportedListing,
    key=lambda each: {"pk": _partition(each.tenant, each.job_id), "sk": each.external_id},
    keyed=("tenant", "job_id", "external_id"),
    from_key=lambda item: {
        "tenant": tenant_of(item),
        "job_id": item["pk"].split("#", 3)[3],
        "external_id": item["sk"],
    },
    columns={"found": JSON, "rivals": SPARSE},
    derived=lambda each: {"purge_at": _purge_at(each.at)},
)
