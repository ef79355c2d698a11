"""Audits on DynamoDB.

Audits table
    pk `T#<tenant>#AUDIT#<id>`
        sk `RUN#<run>`                  progress of a run, and its result
        sk `RUN#<run>#PAGE#<place>`     the facts of a page, compressed; query by prefix
        sk `RUN#<run>#LINKS#<number>`   outcomes of some external links; query by prefix
        sk `RUN#<run>#FINISHED`         a finished run's values for comparisons
        sk `ARTIFACT#<id>`              an object in the bucket; list by prefix
    pk `T#<tenant>#SITE#<key>`, sk `<time>#<id>#<run>`
        the finished audits of a site: query backwards for the previous one
    pk `T#<tenant>#SCHEDULES`, sk `<id>`
        a schedule (schedules/dynamo.py)
    index `due`: pk `due_shard`, sk `due_at`, sparse: rows with work at a given time
        `EXPIRY#0` … `EXPIRY#3`         artifacts whose retention ends (spinneret.retention)
        `SCHEDULE#0` … `SCHEDULE#3`     schedules by their next run

Every write of a worker is a transaction that checks its claim. `purge_at` (epoch seconds) is
DynamoDB's TTL attribute: it removes garbage and never decides anything. Artifacts have none, so
that every object in the bucket keeps its row.
"""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from spinneret.audits import limits
from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.items import (
    ARTIFACT_PREFIX,
    ARTIFACTS,
    FINISHED,
    PROGRESS,
    audit_partition,
    outcome_of,
    run_key,
    site_partition,
)
from spinneret.audits.models import Artifact, Finished, Progress, RunRef
from spinneret.aws import dynamo
from spinneret.aws.dynamo import Item
from spinneret.aws.reads import query
from spinneret.aws.table import DynamoAdapter, Table
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.jobs.dynamo import transact_under_lease
from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import Clock, epoch_seconds
from spinneret.kernel.paging import Page


class DynamoAuditStore(DynamoAdapter):
    """Implements AuditStore; see the module's docstring for the key design."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        jobs_table: str,
        *,
        clock: Clock,
    ) -> None:
        super().__init__(client, table)
        self._progress = Table(client, table, PROGRESS)
        self._finished = Table(client, table, FINISHED)
        self._jobs = jobs_table
        self._clock = clock

    # ------------------------------------------------------------ Runs

    def progress(self, ref: RunRef) -> Progress | None:
        return self._progress.get(run_key(ref))

    def keep_progress(self, progress: Progress, lease: Lease) -> None:
        self._write(lease, self._put_progress(progress))

    def finish(self, progress: Progress, finished: Finished, lease: Lease) -> None:
        item = FINISHED.encode(finished)
        site = site_partition(finished.ref.tenant, finished.site_key)
        of_site = {**item, "pk": site, "sk": finished.place}
        self._write(
            lease,
            self._put_progress(progress),
            dynamo.put(self._table, {**item, **self._purge()}),
            dynamo.put(self._table, of_site),
        )

    def finished(self, ref: RunRef) -> Finished | None:
        return self._finished.get(run_key(ref, "#FINISHED"))

    def finished_before(self, tenant: str, site_key: str, place: str) -> Finished | None:
        """See AuditStore: the first item of a query backwards."""
        partition = site_partition(tenant, site_key)
        found = self._finished.page(partition, place, 1, newest_first=True).items
        return found[0] if found else None

    # ------------------------------------------------------------ Facts

    def keep_page(self, ref: RunRef, place: str, facts: bytes, lease: Lease) -> None:
        item = {**run_key(ref, f"#PAGE#{place}"), "facts": facts, **self._purge()}
        self._write(lease, dynamo.put(self._table, item))

    def pages(self, ref: RunRef) -> Iterator[bytes]:
        """See AuditStore: a query for each megabyte."""
        for item in self._below(run_key(ref, "#PAGE#")):
            yield bytes(item["facts"].value)

    def keep_outcomes(
        self, ref: RunRef, number: int, outcomes: Mapping[str, LinkOutcome], lease: Lease
    ) -> None:
        item = {
            **run_key(ref, f"#LINKS#{number:06}"),
            "outcomes": gzip.compress(json_text(outcomes).encode(), mtime=0),
            **self._purge(),
        }
        self._write(lease, dynamo.put(self._table, item))

    def outcomes(self, ref: RunRef) -> tuple[dict[str, LinkOutcome], int]:
        found: dict[str, LinkOutcome] = {}
        number = 0
        for item in self._below(run_key(ref, "#LINKS#")):
            rows = json.loads(gzip.decompress(bytes(item["outcomes"].value)))
            found.update({url: outcome_of(row) for url, row in rows.items()})
            number = int(item["sk"].rpartition("#")[2]) + 1
        return found, number

    # ------------------------------------------------------------ Artifacts

    def keep_artifacts(self, artifacts: Sequence[Artifact], lease: Lease) -> None:
        puts = (dynamo.put(self._table, ARTIFACTS.encode(artifact)) for artifact in artifacts)
        self._write(lease, *puts)

    def artifacts(
        self, tenant: str, audit_id: str, after: str | None, limit: int
    ) -> Page[Artifact]:
        below = {"pk": audit_partition(tenant, audit_id), "sk": ARTIFACT_PREFIX}
        start = {} if after is None else {**below, "sk": ARTIFACT_PREFIX + after}
        rows = self._below(below, limit + 1, **({"ExclusiveStartKey": start} if start else {}))
        return Page.cut(list(map(ARTIFACTS.decode, rows)), limit, lambda artifact: artifact.id)

    # ------------------------------------------------------------ Parts

    def _put_progress(self, progress: Progress) -> TransactWriteItemTypeDef:
        return dynamo.put(self._table, {**PROGRESS.encode(progress), **self._purge()})

    def _below(
        self, prefix: dict[str, str], limit: int | None = None, **more: Any
    ) -> Iterator[Item]:
        """Yield the rows whose sort key starts with the prefix's; read consistently."""
        condition = "pk = :pk AND begins_with(sk, :prefix)"
        values = {":pk": prefix["pk"], ":prefix": prefix["sk"]}
        asked = {"ConsistentRead": True, **more}
        return query(self._client, self._table, condition, values, limit, **asked)

    def _write(self, lease: Lease, *writes: TransactWriteItemTypeDef) -> None:
        transact_under_lease(self._client, self._jobs, lease, writes)

    def _purge(self) -> dict[str, int]:
        kept = timedelta(seconds=bounds.JOB_RETENTION_SECONDS + limits.PENDING_SECONDS)
        return {"purge_at": epoch_seconds(self._clock() + kept)}
