"""The job queue on SQS: one queue per lane, a message per job that is due."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spinneret.adapters.aws import translated
from spinneret.jobs.models import JobRef, Lane
from spinneret.kernel.errors import DependencyUnavailable

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient

_BATCH = 10  # SQS: SendMessageBatch takes ten entries


class SqsJobQueue:
    """Implements JobQueue; `urls` has a queue for every lane that this function may send to."""

    def __init__(self, client: SQSClient, urls: Mapping[Lane, str]) -> None:
        self._client = client
        self._urls = urls

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        """See JobQueue."""
        for start in range(0, len(refs), _BATCH):
            batch = refs[start : start + _BATCH]
            with translated("sqs"):
                answer = self._client.send_message_batch(
                    QueueUrl=self._urls[lane],
                    Entries=[
                        {
                            "Id": str(number),
                            "MessageBody": message_of(ref),
                            "DelaySeconds": delay_seconds,
                        }
                        for number, ref in enumerate(batch)
                    ],
                )
            if answer.get("Failed"):
                raise DependencyUnavailable("sqs", "refused a message")


def message_of(ref: JobRef) -> str:
    """The body of a queue message."""
    return json.dumps({"tenant": ref.tenant, "job_id": ref.job_id})


def ref_of(body: str) -> JobRef:
    """The inverse of `message_of`; raises ValueError for anything else."""
    value: Any = json.loads(body)
    match value:
        case {"tenant": str(tenant), "job_id": str(job_id)} if tenant and job_id:
            return JobRef(tenant=tenant, job_id=job_id)
    raise ValueError("not a job message")
