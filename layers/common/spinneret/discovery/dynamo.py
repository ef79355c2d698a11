"""Discoveries on DynamoDB, in the table CrawlDefinitions.

    pk `T#<tenant>#DISCOVERY#<job>`
        sk `FOUND#<nnn>`          up to DISCOVERY_URLS_PER_ROW URLs of the result; `urls_found` in
                                  each row is the total number
        sk `STATE#<run>#<nnn>`    a part of the compressed state of an unfinished run; `parts` is
                                  the number of parts

All of them are written together with a check of the job's lease. `purge_at` (epoch seconds) is
DynamoDB's TTL attribute.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from spinneret.aws import dynamo
from spinneret.aws.dynamo import Item
from spinneret.aws.table import DynamoAdapter
from spinneret.aws.types import DynamoDBClient
from spinneret.discovery import limits
from spinneret.discovery.models import FoundPage, FoundUrl, found_item, read_found
from spinneret.jobs.dynamo import transact_under_lease
from spinneret.jobs.dynamo_parts import parts_of, read_parts
from spinneret.jobs.models import JobRef, Lease
from spinneret.kernel import bounds
from spinneret.kernel.clock import epoch_seconds

_SIZE: Final = limits.DISCOVERY_URLS_PER_ROW


class DynamoDiscoveryStore(DynamoAdapter):
    """Implements DiscoveryStore."""

    def __init__(self, client: DynamoDBClient, table: str, jobs_table: str) -> None:
        super().__init__(client, table)
        self._jobs = jobs_table

    def keep_state(self, lease: Lease, run: int, state: str, now: datetime) -> None:
        rows = {_state_key(run, n): part for n, part in enumerate(parts_of(state))}
        self._write(lease, now, rows)

    def state(self, ref: JobRef, run: int) -> str | None:
        return read_parts(self._client, self._table, lambda n: _key(ref, _state_key(run, n)))

    def keep_found(self, lease: Lease, found: Sequence[FoundUrl], now: datetime) -> None:
        rows = {
            _found_key(number): {
                "urls": json.dumps([found_item(each) for each in some], ensure_ascii=False),
                "urls_found": len(found),
            }
            for number, some in enumerate(_batched(found))
        }
        self._write(lease, now, rows)

    def page(self, ref: JobRef, after: int, limit: int) -> FoundPage:
        numbers = range(after // _SIZE, (after + limit - 1) // _SIZE + 1)
        keys = [_key(ref, _found_key(number)) for number in numbers]
        rows = {row["sk"]: row for row in dynamo.batch_get(self._client, self._table, keys)}
        urls = [
            read_found(each)
            for number in numbers
            if (row := rows.get(_found_key(number))) is not None
            for each in json.loads(row["urls"])
        ]
        total = max((int(row["urls_found"]) for row in rows.values()), default=0)
        shown = urls[after % _SIZE :][:limit]
        end = after + len(shown)
        return FoundPage(urls=tuple(shown), after=end if shown and end < total else None)

    def _write(self, lease: Lease, now: datetime, rows: dict[str, Item]) -> None:
        ref = JobRef(tenant=lease.tenant, job_id=lease.job_id)
        purge_at = epoch_seconds(now) + bounds.JOB_ROWS_SECONDS
        puts = [
            dynamo.put(self._table, {**_key(ref, sort), **row, "purge_at": purge_at})
            for sort, row in rows.items()
        ]
        transact_under_lease(self._client, self._jobs, lease, puts)


def _batched(found: Sequence[FoundUrl]) -> list[Sequence[FoundUrl]]:
    return [found[start : start + _SIZE] for start in range(0, len(found), _SIZE)]


def _key(ref: JobRef, sort: str) -> Item:
    return {"pk": f"T#{ref.tenant}#DISCOVERY#{ref.job_id}", "sk": sort}


def _found_key(number: int) -> str:
    return f"FOUND#{number:03d}"


def _state_key(run: int, number: int) -> str:
    return f"STATE#{run:06d}#{number:03d}"
