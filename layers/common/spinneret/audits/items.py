"""Conversion of audit rows to and from DynamoDB items (keys: see `dynamo`)."""

import json
from collections.abc import Sequence
from typing import Any, Final

from spinneret.audits import limits
from spinneret.audits.facts.models import ReadFailure
from spinneret.audits.facts.site import LinkOutcome
from spinneret.audits.models import Artifact, Finished, Progress, RunRef
from spinneret.aws.codec import Codec, Column, tenant_of
from spinneret.aws.dynamo import Item
from spinneret.kernel.clock import to_iso
from spinneret.kernel.sharding import shard_of

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


def outcome_of(row: Sequence[Any]) -> LinkOutcome:
    """Parse an outcome from its JSON."""
    status, failure, *rest = row
    return LinkOutcome(status, None if failure is None else ReadFailure(failure), *rest)


def _ref(item: Item, run: Any) -> Item:
    """Return the reference in a row below its audit."""
    return {"ref": {"tenant": tenant_of(item), "audit_id": item["pk"].split("#", 3)[3], "run": run}}


def _indexed(artifact: Artifact) -> Item:
    """Return the run, and the keys of the index `due` while the artifact expires."""
    item: Item = {"run": artifact.ref.run}
    if artifact.retention_until is not None and artifact.deleted_at is None:
        item["due_shard"] = due_shard("EXPIRY", artifact.id)
        item["due_at"] = to_iso(artifact.retention_until)
    return item


PROGRESS: Final = Codec(
    Progress,
    key=lambda progress: run_key(progress.ref),
    keyed=("ref",),
    from_key=lambda item: _ref(item, item["sk"].partition("#")[2]),
    columns={"result": Column(encode=json.dumps, decode=json.loads)},
)

FINISHED: Final = Codec(
    Finished,
    key=lambda finished: run_key(finished.ref, "#FINISHED"),
    keyed=("ref",),
    from_key=lambda item: {
        "ref": {"tenant": tenant_of(item), "audit_id": item["audit_id"], "run": item["run"]}
    },
    columns={"score": Column(encode=str)},
    derived=lambda finished: {"audit_id": finished.ref.audit_id, "run": finished.ref.run},
)
"""Finished runs, in a row below the audit and in one below the site."""

ARTIFACTS: Final = Codec(
    Artifact,
    key=lambda artifact: {
        "pk": audit_partition(artifact.ref.tenant, artifact.ref.audit_id),
        "sk": ARTIFACT_PREFIX + artifact.id,
    },
    keyed=("ref",),
    from_key=lambda item: _ref(item, item["run"]),
    derived=_indexed,
)
