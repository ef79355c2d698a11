"""Records of side effects on DynamoDB.

Idempotency table
    pk `T#<tenant>#EFFECT#<sha256 of the key>`   one effect: what was asked for, the claim that
    began it (job, fence), the time by which its call has ended, and the result once it is known

`purge_at` is garbage collection: a key is remembered for EFFECT_RETENTION_SECONDS.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from spinneret.aws import dynamo
from spinneret.aws.types import DynamoDBClient, TransactWriteItemTypeDef
from spinneret.jobs import keys, limits
from spinneret.jobs.dynamo import lease_check, lease_lost
from spinneret.jobs.models import JobRef, JobStatus, Lease
from spinneret.jobs.ports import EffectDone, EffectStarted, EffectUncertain
from spinneret.kernel import bounds
from spinneret.kernel.canonical import json_text
from spinneret.kernel.clock import epoch_seconds, parse_stamp, to_iso
from spinneret.kernel.errors import Contended, IdempotencyMismatch, LeaseLost

_LEASE: Final = 0
_RECORD: Final = 1


class DynamoEffectStore:
    """Implements EffectStore."""

    def __init__(self, client: DynamoDBClient, jobs_table: str, idempotency_table: str) -> None:
        self._client = client
        self._jobs = jobs_table
        self._idempotency = idempotency_table

    def begin(
        self, lease: Lease, key: str, request: str, now: datetime, until: datetime
    ) -> EffectStarted | EffectUncertain | EffectDone:
        """See EffectStore. A second transaction takes over the record of an ended claim."""
        record = {
            "pk": keys.effect_record(lease.tenant, key),
            "request": request,
            "job_id": lease.job_id,
            "fence": lease.fence,
            "until": to_iso(until),
            "purge_at": _purge_at(now),
        }
        known = self._put(lease, record, dynamo.ABSENT)
        if known is None:
            return EffectStarted()
        if known["request"] != request:
            raise IdempotencyMismatch("this effect's key was used for another request")
        if "result" in known:
            return EffectDone(result=json.loads(known["result"]))
        own = (known["job_id"], known["fence"]) == (lease.job_id, lease.fence)
        if not own and known["until"] > to_iso(now):
            wait = (parse_stamp(known["until"]) - now).total_seconds()
            raise Contended("another claim's call may still run", retry_after=wait)
        unchanged = dynamo.equals(
            job_id=known["job_id"], fence=known["fence"], until=known["until"], result=None
        )
        if self._put(lease, record, unchanged, self._claim_is_over(lease, known)) is not None:
            raise Contended(
                "another job is performing this effect", retry_after=limits.EFFECT_MARGIN_SECONDS
            )
        return EffectUncertain()

    def finish(self, lease: Lease, key: str, result: Mapping[str, Any], now: datetime) -> None:
        text = json_text(result)
        own = dynamo.equals(job_id=lease.job_id, fence=lease.fence, result=None)
        changes = {"result": text, "purge_at": _purge_at(now)}
        row = {"pk": keys.effect_record(lease.tenant, key)}
        try:
            dynamo.transact(self._client, [dynamo.update(self._idempotency, row, changes, own)])
        except dynamo.ConditionFailed as failed:
            raise LeaseLost(f"the effect of job {lease.job_id} was taken over") from failed

    def _put(
        self,
        lease: Lease,
        record: dict[str, Any],
        condition: dynamo.Condition,
        extra: Sequence[TransactWriteItemTypeDef] = (),
    ) -> dict[str, Any] | None:
        """Write the record and return None. On conflict, return the existing record, or {} if only
        a further condition failed.
        """
        writes = [
            lease_check(self._jobs, lease),
            dynamo.put(self._idempotency, record, condition),
            *extra,
        ]
        try:
            dynamo.transact(self._client, writes)
        except dynamo.ConditionFailed as failed:
            if _LEASE in failed.standing:
                raise lease_lost(lease) from failed
            return failed.standing.get(_RECORD, {})
        return None

    def _claim_is_over(
        self, lease: Lease, known: Mapping[str, Any]
    ) -> list[TransactWriteItemTypeDef]:
        """Build the check that the recorded claim has ended.

        An earlier claim of the same job has ended, since this one holds the job; another job's
        claim must be checked.
        """
        if known["job_id"] == lease.job_id:
            return []
        other = JobRef(tenant=lease.tenant, job_id=known["job_id"])
        over: dynamo.Condition = (
            "NOT (#status = :running AND #fence = :fence)",
            {":running": JobStatus.RUNNING, ":fence": known["fence"]},
        )
        return [dynamo.check(self._jobs, keys.job_key(other), over)]


def _purge_at(now: datetime) -> int:
    return epoch_seconds(now + timedelta(seconds=bounds.EFFECT_RETENTION_SECONDS))
