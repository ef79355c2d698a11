"""Progress of imports on DynamoDB, in the table Targets.

    pk `T#<tenant>#IMPORT#<job>`
        sk `DONE#<nnnnnn>`    outcomes of the lines from this position on
        sk `LISTING#<nnn>`    a part of the compressed state of reading a sitemap; `parts` is the
                              number of parts

Every write checks the job's lease. `purge_at` (epoch seconds) is DynamoDB's TTL attribute.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from spinneret.aws import dynamo
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import items as all_items
from spinneret.aws.table import DynamoAdapter
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import epoch_seconds
from spinneret.kernel.errors import LeaseLost
from spinneret.monitoring.imports.ports import SliceResult
from spinneret.monitoring.targets import items
from spinneret.monitoring.targets.dynamo import WRITE_TRIES, count_write, target_writes
from spinneret.monitoring.targets.models import TargetWithState

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_PART_BYTES: Final = 300_000  # an item has at most 400 KB


class DynamoImportStore(DynamoAdapter):
    """Implements ImportStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._jobs = jobs_table

    def outcomes(self, ref: JobRef) -> list[Mapping[str, Any]]:
        request = {
            "TableName": self._table,
            "KeyConditionExpression": "pk = :pk AND begins_with(sk, :done)",
            "ExpressionAttributeValues": {":pk": _key(ref, "")["pk"], ":done": "DONE#"},
            "ConsistentRead": True,
        }
        rows = all_items(self._client.query, request)
        return [outcome for row in rows for outcome in json.loads(row["outcomes"])]

    def known(self, tenant: str, urls: Sequence[str]) -> Mapping[str, str]:
        by_key = {items.url_key(tenant, url)["pk"]: url for url in urls}
        keys = [items.url_key(tenant, url) for url in by_key.values()]
        found = dynamo.batch_get(self._client, self._table, keys)
        return {by_key[row["pk"]]: row["target_id"] for row in found}

    def write(
        self,
        lease: Lease,
        first: int,
        outcomes: Sequence[Mapping[str, Any]],
        targets: Sequence[TargetWithState],
        most: int,
        now: datetime,
    ) -> SliceResult:
        if len(targets) > most:
            return SliceResult.TOO_MANY
        done = {**_row(lease, f"DONE#{first:06d}", now), "outcomes": json_text(outcomes)}
        writes = [lease_check(self._jobs, lease), dynamo.put(self._table, done)]
        if targets:
            writes.append(count_write(self._table, lease.tenant, len(targets), most))
        begin = len(writes)
        for watched in targets:
            writes += target_writes(self._table, watched)
        try:
            dynamo.transact(self._client, writes, WRITE_TRIES)
        except dynamo.ConditionFailed as failed:
            if 0 in failed.standing:
                raise _lost(lease) from failed
            if any(number >= begin for number in failed.standing):
                return SliceResult.URL_TAKEN
            return SliceResult.TOO_MANY
        return SliceResult.WRITTEN

    def listing(self, ref: JobRef) -> str | None:
        first = dynamo.get(self._client, self._table, _key(ref, _part(0)))
        if not first:
            return None
        keys = [_key(ref, _part(number)) for number in range(int(first["parts"]))]
        found = dynamo.batch_get(self._client, self._table, keys)
        parts = {item["sk"]: bytes(item["data"]) for item in found}
        if len(parts) < len(keys):
            return None  # TTL removes rows one by one: the sitemap is read again
        return zlib.decompress(b"".join(parts[key] for key in sorted(parts))).decode()

    def keep_listing(self, lease: Lease, listing: str, now: datetime) -> None:
        packed = zlib.compress(listing.encode("utf-8", "replace"))
        starts = range(0, len(packed), _PART_BYTES)
        parts = [packed[start : start + _PART_BYTES] for start in starts]
        writes: list[TransactWriteItemTypeDef] = [lease_check(self._jobs, lease)]
        for number, part in enumerate(parts):
            row = {**_row(lease, _part(number), now), "data": part, "parts": len(parts)}
            writes.append(dynamo.put(self._table, row))
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            raise _lost(lease) from failed


def _row(lease: Lease, sort: str, now: datetime) -> Item:
    purge_at = epoch_seconds(now) + bounds.JOB_ROWS_SECONDS
    return {**_key(JobRef(tenant=lease.tenant, job_id=lease.job_id), sort), "purge_at": purge_at}


def _key(ref: JobRef, sort: str) -> Item:
    return {"pk": f"T#{ref.tenant}#IMPORT#{ref.job_id}", "sk": sort}


def _part(number: int) -> str:
    return f"LISTING#{number:03d}"


def _lost(lease: Lease) -> LeaseLost:
    return LeaseLost(f"job {lease.job_id} is no longer held by this claim")
