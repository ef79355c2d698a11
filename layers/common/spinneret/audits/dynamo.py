"""Audits on DynamoDB.

Audits table
    pk `T#<tenant>#AUDIT#<id>`
        sk `RUN#<run>`                  how far a run is, and its result
        sk `RUN#<run>#PAGE#<place>`     the facts of a page, compressed; query by prefix
        sk `RUN#<run>#LINKS#<number>`   what some external links answered; query by prefix
        sk `RUN#<run>#FINISHED`         where a run stands among the audits of its site
        sk `ARTIFACT#<id>`              an object in the bucket; list by prefix
    pk `T#<tenant>#SITE#<key>`, sk `<time>#<id>#<run>`
        the finished audits of a site: query backwards for the one before
    pk `T#<tenant>#SCHEDULES`, sk `<id>`
        a schedule (schedules/dynamo.py)
    index `due`: pk `due_shard`, sk `due_at`, sparse: what has to be done at a time
        `EXPIRY#0` … `EXPIRY#3`         artifacts whose retention ends (spinneret.retention)
        `SCHEDULE#0` … `SCHEDULE#3`     schedules by their next run

Every write of a worker is a transaction with the check of its claim. `purge_at` (epoch seconds) is
DynamoDB's TTL attribute: garbage collection, never a condition. Artifacts have none: what is in the
bucket keeps its row.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from spinneret.audits import limits
from spinneret.audits.facts.models import Failure
from spinneret.audits.facts.site import Outcome
from spinneret.audits.models import (
    Artifact,
    ArtifactPage,
    ArtifactType,
    Finished,
    Phase,
    Progress,
    RunRef,
)
from spinneret.aws import dynamo
from spinneret.aws.clients import translated
from spinneret.jobs.dynamo import lease_check
from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.canonical import fingerprint
from spinneret.kernel.clock import (
    Clock,
    epoch_seconds,
    optional_stamp,
    parse_optional_stamp,
    parse_stamp,
    stamp,
)
from spinneret.kernel.errors import LeaseLost
from spinneret.kernel.ids import is_id

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef, TransactWriteItemTypeDef

_LEASE = 0  # its position in every transaction
_ARTIFACT = "ARTIFACT#"


class DynamoAuditStore:
    """Implements AuditStore; see the module's docstring for the key design."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        jobs_table: str,
        *,
        clock: Clock,
    ) -> None:
        self._client = client
        self._table = table
        self._jobs = jobs_table
        self._clock = clock

    # ------------------------------------------------------------ Runs

    def progress(self, ref: RunRef) -> Progress | None:
        """See AuditStore."""
        item = self._get(_run_key(ref))
        return _progress(ref, item) if item else None

    def keep_progress(self, progress: Progress, lease: Lease) -> None:
        """See AuditStore."""
        self._write(lease, self._put_progress(progress))

    def finish(self, progress: Progress, finished: Finished, lease: Lease) -> None:
        """See AuditStore."""
        item = _finished_item(finished)
        own = {**_run_key(finished.ref, "#FINISHED"), **item, **self._purge()}
        of_site = {
            "pk": _site_partition(finished.ref.tenant, finished.site_key),
            "sk": finished.place,
            **item,
        }
        self._write(
            lease,
            self._put_progress(progress),
            dynamo.put(self._table, own),
            dynamo.put(self._table, of_site),
        )

    def finished(self, ref: RunRef) -> Finished | None:
        """See AuditStore."""
        item = self._get(_run_key(ref, "#FINISHED"))
        return _finished(ref.tenant, item) if item else None

    def finished_before(self, tenant: str, site_key: str, place: str) -> Finished | None:
        """See AuditStore: the first item of a query backwards."""
        partition = _site_partition(tenant, site_key)
        found, _ = dynamo.newest_first(self._client, self._table, partition, place, 1)
        return _finished(tenant, found[0]) if found else None

    # ------------------------------------------------------------ Facts

    def keep_page(self, ref: RunRef, place: str, facts: bytes, lease: Lease) -> None:
        """See AuditStore."""
        item = {**_run_key(ref, f"#PAGE#{place}"), "facts": facts, **self._purge()}
        self._write(lease, dynamo.put(self._table, item))

    def pages(self, ref: RunRef) -> Iterator[bytes]:
        """See AuditStore: a query for each megabyte."""
        for item in self._below(_run_key(ref, "#PAGE#")):
            yield bytes(item["facts"].value)

    def keep_outcomes(
        self, ref: RunRef, number: int, outcomes: Mapping[str, Outcome], lease: Lease
    ) -> None:
        """See AuditStore."""
        text = json.dumps(outcomes, ensure_ascii=False, separators=(",", ":"))
        item = {
            **_run_key(ref, f"#LINKS#{number:06}"),
            "outcomes": gzip.compress(text.encode(), mtime=0),
            **self._purge(),
        }
        self._write(lease, dynamo.put(self._table, item))

    def outcomes(self, ref: RunRef) -> tuple[dict[str, Outcome], int]:
        """See AuditStore."""
        found: dict[str, Outcome] = {}
        number = 0
        for item in self._below(_run_key(ref, "#LINKS#")):
            rows = json.loads(gzip.decompress(bytes(item["outcomes"].value)))
            found.update({url: _outcome(row) for url, row in rows.items()})
            number = int(item["sk"].rpartition("#")[2]) + 1
        return found, number

    # ------------------------------------------------------------ Artifacts

    def keep_artifacts(self, artifacts: Sequence[Artifact], lease: Lease) -> None:
        """See AuditStore."""
        self._write(
            lease, *(dynamo.put(self._table, artifact_item(artifact)) for artifact in artifacts)
        )

    def artifacts(self, tenant: str, audit_id: str, after: str | None, limit: int) -> ArtifactPage:
        """See AuditStore."""
        partition = _partition(tenant, audit_id)
        request = _prefix_query(self._table, {"pk": partition, "sk": _ARTIFACT})
        request["Limit"] = limit + 1
        if after is not None:
            request["ExclusiveStartKey"] = {"pk": partition, "sk": _ARTIFACT + after}
        with translated("dynamodb"):
            answer = self._client.query(**request)
        found = [_artifact(tenant, audit_id, item) for item in answer["Items"]]
        more = len(found) > limit or "LastEvaluatedKey" in answer
        shown = tuple(found[:limit])
        return ArtifactPage(artifacts=shown, after=shown[-1].id if more and shown else None)

    def artifact(self, tenant: str, audit_id: str, artifact_id: str) -> Artifact | None:
        """See AuditStore."""
        if not (is_id(audit_id) and is_id(artifact_id)):
            return None
        item = self._get({"pk": _partition(tenant, audit_id), "sk": _ARTIFACT + artifact_id})
        return _artifact(tenant, audit_id, item) if item else None

    # ------------------------------------------------------------ Parts

    def _put_progress(self, progress: Progress) -> TransactWriteItemTypeDef:
        result = None if progress.result is None else json.dumps(progress.result)
        item = {
            **_run_key(progress.ref),
            "phase": progress.phase.value,
            "lock_attempts": progress.lock_attempts,
            "start_url": progress.start_url,
            "site_uri": progress.site_uri,
            "probed": list(progress.probed),
            "out_of_time": progress.out_of_time,
            "result": result,
            **self._purge(),
        }
        kept = {name: value for name, value in item.items() if value is not None}
        return dynamo.put(self._table, kept)

    def _get(self, key: dict[str, str]) -> dict[str, Any] | None:
        with translated("dynamodb"):
            answer = self._client.get_item(TableName=self._table, Key=key, ConsistentRead=True)
        return answer.get("Item")

    def _below(self, prefix: dict[str, str]) -> Iterator[dict[str, Any]]:
        request = _prefix_query(self._table, prefix)
        while True:
            with translated("dynamodb"):
                answer = self._client.query(**request)
            yield from answer["Items"]
            if "LastEvaluatedKey" not in answer:
                return
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def _write(self, lease: Lease, *writes: TransactWriteItemTypeDef) -> None:
        try:
            dynamo.transact(self._client, [lease_check(self._jobs, lease), *writes])
        except dynamo.ConditionFailed as failed:
            if _LEASE in failed.standing:
                raise LeaseLost(f"job {lease.job_id} has moved on") from failed
            raise

    def _purge(self) -> dict[str, int]:
        kept = timedelta(seconds=bounds.JOB_RETENTION_SECONDS + limits.PENDING_SECONDS)
        return {"purge_at": epoch_seconds(self._clock() + kept)}


def _partition(tenant: str, audit_id: str) -> str:
    return f"T#{tenant}#AUDIT#{audit_id}"


def _run_key(ref: RunRef, behind: str = "") -> dict[str, str]:
    return {"pk": _partition(ref.tenant, ref.audit_id), "sk": f"RUN#{ref.run:04}{behind}"}


def _site_partition(tenant: str, site_key: str) -> str:
    return f"T#{tenant}#SITE#{site_key}"


def due_shard(kind: str, name: str) -> str:
    """Partition of the index `due`; spread by name."""
    return f"{kind}#{int(fingerprint(name)[:8], 16) % limits.DUE_SHARDS}"


def _prefix_query(table: str, prefix: dict[str, str]) -> QueryInputTypeDef:
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
        "ExpressionAttributeValues": {":pk": prefix["pk"], ":prefix": prefix["sk"]},
        "ConsistentRead": True,
    }


def _progress(ref: RunRef, item: Mapping[str, Any]) -> Progress:
    result = item.get("result")
    return Progress(
        ref=ref,
        phase=Phase(item["phase"]),
        lock_attempts=int(item["lock_attempts"]),
        start_url=item.get("start_url"),
        site_uri=item.get("site_uri"),
        probed=tuple(item["probed"]),
        out_of_time=bool(item["out_of_time"]),
        result=None if result is None else json.loads(result),
    )


def _finished_item(finished: Finished) -> dict[str, Any]:
    return {
        "audit_id": finished.ref.audit_id,
        "run": finished.ref.run,
        "site_key": finished.site_key,
        "start_url": finished.start_url,
        "finished_at": stamp(finished.finished_at),
        "score": str(finished.score),  # a float; DynamoDB has decimals only
        "catalogue_version": finished.catalogue_version,
        "issues_uri": finished.issues_uri,
    }


def _finished(tenant: str, item: Mapping[str, Any]) -> Finished:
    return Finished(
        ref=RunRef(tenant=tenant, audit_id=item["audit_id"], run=int(item["run"])),
        site_key=item["site_key"],
        start_url=item["start_url"],
        finished_at=parse_stamp(item["finished_at"]),
        score=float(item["score"]),
        catalogue_version=item["catalogue_version"],
        issues_uri=item["issues_uri"],
    )


def _outcome(row: Sequence[Any]) -> Outcome:
    status, failure, *rest = row
    return Outcome(status, None if failure is None else Failure(failure), *rest)


def artifact_item(artifact: Artifact) -> dict[str, Any]:
    """The row of an artifact; one that ends is in the index `due`."""
    ref = artifact.ref
    item = {
        "pk": _partition(ref.tenant, ref.audit_id),
        "sk": _ARTIFACT + artifact.id,
        "run": ref.run,
        "type": artifact.type.value,
        "storage_uri": artifact.storage_uri,
        "created_at": stamp(artifact.created_at),
        "url": artifact.url,
        "retention_until": optional_stamp(artifact.retention_until),
        "deleted_at": optional_stamp(artifact.deleted_at),
    }
    if artifact.retention_until is not None and artifact.deleted_at is None:
        item["due_shard"] = due_shard("EXPIRY", artifact.id)
        item["due_at"] = stamp(artifact.retention_until)
    return {name: value for name, value in item.items() if value is not None}


def _artifact(tenant: str, audit_id: str, item: Mapping[str, Any]) -> Artifact:
    return Artifact(
        ref=RunRef(tenant=tenant, audit_id=audit_id, run=int(item["run"])),
        type=ArtifactType(item["type"]),
        storage_uri=item["storage_uri"],
        created_at=parse_stamp(item["created_at"]),
        url=item.get("url"),
        retention_until=parse_optional_stamp(item.get("retention_until")),
        deleted_at=parse_optional_stamp(item.get("deleted_at")),
    )
