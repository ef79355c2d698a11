"""Progress of imports on DynamoDB, in the table Targets.

    pk `T#<tenant>#IMPORT#<job>`
        sk `DONE#<nnnnnn>`    outcomes of the lines from this position on
        sk `LISTING#<nnn>`    a part of the compressed state of reading a sitemap; `parts` is the
                              number of parts

Every write checks the job's lease. `purge_at` (epoch seconds) is DynamoDB's TTL attribute.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spinneret.aws import dynamo
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter
from spinneret.jobs.dynamo import lease_check, lease_lost, transact_under_lease
from spinneret.jobs.dynamo_parts import parts_of, read_parts
from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import epoch_seconds
from spinneret.monitoring.imports.ports import SliceResult
from spinneret.monitoring.targets import items
from spinneret.monitoring.targets.dynamo import WRITE_TRIES, count_write, target_writes
from spinneret.monitoring.targets.models import TargetWithState

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


class DynamoImportStore(DynamoAdapter):
    """Implements ImportStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._jobs = jobs_table

    def outcomes(self, ref: JobRef) -> list[Mapping[str, Any]]:
        condition = "pk = :pk AND begins_with(sk, :done)"
        values = {":pk": _key(ref, "")["pk"], ":done": "DONE#"}
        rows = query(self._client, self._table, condition, values, ConsistentRead=True)
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
                raise lease_lost(lease) from failed
            if any(number >= begin for number in failed.standing):
                return SliceResult.URL_TAKEN
            return SliceResult.TOO_MANY
        return SliceResult.WRITTEN

    def listing(self, ref: JobRef) -> str | None:
        return read_parts(self._client, self._table, lambda n: _key(ref, _part(n)))

    def keep_listing(self, lease: Lease, listing: str, now: datetime) -> None:
        puts = [
            dynamo.put(self._table, {**_row(lease, _part(number), now), **part})
            for number, part in enumerate(parts_of(listing))
        ]
        transact_under_lease(self._client, self._jobs, lease, puts)


def _row(lease: Lease, sort: str, now: datetime) -> Item:
    purge_at = epoch_seconds(now) + bounds.JOB_ROWS_SECONDS
    return {**_key(JobRef(tenant=lease.tenant, job_id=lease.job_id), sort), "purge_at": purge_at}


def _key(ref: JobRef, sort: str) -> Item:
    return {"pk": f"T#{ref.tenant}#IMPORT#{ref.job_id}", "sk": sort}


def _part(number: int) -> str:
    return f"LISTING#{number:03d}"
