"""Conversion of audit rows to and from DynamoDB items (keys: see `dynamo`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from spinneret.audits import limits
from spinneret.audits.facts.models import Failure
from spinneret.audits.facts.site import Outcome
from spinneret.audits.models import Artifact, ArtifactType, Finished, Phase, Progress, RunRef
from spinneret.kernel.clock import optional_stamp, parse_optional_stamp, parse_stamp, to_iso
from spinneret.kernel.sharding import shard_of

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import QueryInputTypeDef

ARTIFACT_PREFIX: Final = "ARTIFACT#"


def audit_partition(tenant: str, audit_id: str) -> str:
    """Partition of an audit."""
    return f"T#{tenant}#AUDIT#{audit_id}"


def run_key(ref: RunRef, behind: str = "") -> dict[str, str]:
    """Primary key of a run's row, or of a row below it."""
    return {"pk": audit_partition(ref.tenant, ref.audit_id), "sk": f"RUN#{ref.run:04}{behind}"}


def site_partition(tenant: str, site_key: str) -> str:
    """Partition of the finished audits of a site."""
    return f"T#{tenant}#SITE#{site_key}"


def due_shard(kind: str, name: str) -> str:
    """Partition of the index `due`, sharded by name."""
    return f"{kind}#{shard_of(name, limits.DUE_SHARDS)}"


def prefix_query(table: str, prefix: dict[str, str]) -> QueryInputTypeDef:
    """Return a consistent query of the rows whose sort key starts with a prefix."""
    return {
        "TableName": table,
        "KeyConditionExpression": "pk = :pk AND begins_with(sk, :prefix)",
        "ExpressionAttributeValues": {":pk": prefix["pk"], ":prefix": prefix["sk"]},
        "ConsistentRead": True,
    }


def progress_from_item(ref: RunRef, item: Mapping[str, Any]) -> Progress:
    """Parse the item that `keep_progress` puts."""
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


def finished_item(finished: Finished) -> dict[str, Any]:
    """Return the item of a finished run, without its key."""
    return {
        "audit_id": finished.ref.audit_id,
        "run": finished.ref.run,
        "site_key": finished.site_key,
        "start_url": finished.start_url,
        "finished_at": to_iso(finished.finished_at),
        "score": str(finished.score),  # a float; DynamoDB only stores decimals
        "catalogue_version": finished.catalogue_version,
        "issues_uri": finished.issues_uri,
    }


def finished_from_item(tenant: str, item: Mapping[str, Any]) -> Finished:
    """Parse the item of `finished_item`."""
    return Finished(
        ref=RunRef(tenant=tenant, audit_id=item["audit_id"], run=int(item["run"])),
        site_key=item["site_key"],
        start_url=item["start_url"],
        finished_at=parse_stamp(item["finished_at"]),
        score=float(item["score"]),
        catalogue_version=item["catalogue_version"],
        issues_uri=item["issues_uri"],
    )


def outcome_of(row: Sequence[Any]) -> Outcome:
    """Parse an outcome from its JSON."""
    status, failure, *rest = row
    return Outcome(status, None if failure is None else Failure(failure), *rest)


def artifact_item(artifact: Artifact) -> dict[str, Any]:
    """Return the row of an artifact; one that expires is in the index `due`."""
    ref = artifact.ref
    item = {
        "pk": audit_partition(ref.tenant, ref.audit_id),
        "sk": ARTIFACT_PREFIX + artifact.id,
        "run": ref.run,
        "type": artifact.type.value,
        "storage_uri": artifact.storage_uri,
        "created_at": to_iso(artifact.created_at),
        "url": artifact.url,
        "retention_until": optional_stamp(artifact.retention_until),
        "deleted_at": optional_stamp(artifact.deleted_at),
    }
    if artifact.retention_until is not None and artifact.deleted_at is None:
        item["due_shard"] = due_shard("EXPIRY", artifact.id)
        item["due_at"] = to_iso(artifact.retention_until)
    return {name: value for name, value in item.items() if value is not None}


def artifact_from_item(tenant: str, audit_id: str, item: Mapping[str, Any]) -> Artifact:
    """Parse the row of `artifact_item`."""
    return Artifact(
        ref=RunRef(tenant=tenant, audit_id=audit_id, run=int(item["run"])),
        type=ArtifactType(item["type"]),
        storage_uri=item["storage_uri"],
        created_at=parse_stamp(item["created_at"]),
        url=item.get("url"),
        retention_until=parse_optional_stamp(item.get("retention_until")),
        deleted_at=parse_optional_stamp(item.get("deleted_at")),
    )
