"""The job queue on SQS: one queue per lane, one message per due job.

Queues are found by name: `spinneret-<stage>-<lane>`, and its dead-letter queue `…-dead`.
"""

import json
import re
from collections.abc import Sequence
from itertools import batched
from typing import Any, Final

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.queue import BATCH, Message, send_batch
from spinneret.aws.tracing import MESSAGE_ATTRIBUTE, attribute_of
from spinneret.aws.types import MessageTypeDef, SendMessageRequestTypeDef, SQSClient
from spinneret.jobs import limits
from spinneret.jobs.models import Backlog, DeadLetter, JobRef, Lane

_VISIBLE: Final = "ApproximateNumberOfMessages"
_IN_FLIGHT: Final = "ApproximateNumberOfMessagesNotVisible"
_MOVES: Final = "moves"
_COUNT: Final = re.compile(r"[0-9]{1,9}")
_GROUP: Final = "MessageGroupId"
_LETTER_SECONDS: Final = 60  # longer than a pass of the redrive takes
_POLL_SECONDS: Final = 1  # long polling queries all servers; short polling may miss messages


class SqsJobQueue:
    """Implements JobQueue; `lanes_url` is the common prefix of all lanes' URLs."""

    def __init__(self, client: SQSClient, lanes_url: str) -> None:
        self._client = client
        self._lanes_url = lanes_url

    def send(self, lane: Lane, refs: Sequence[JobRef], delay_seconds: int = 0) -> None:
        messages = [
            Message(tenant=ref.tenant, body=message_of(ref), delay_seconds=delay_seconds)
            for ref in refs
        ]
        for some in batched(messages, BATCH):
            send_batch(self._client, lane_url(self._lanes_url, lane), some)

    def backlog(self, lane: Lane) -> Backlog:
        """See JobQueue. SQS reports counts up to a minute late."""
        return _backlog(self._client, lane_url(self._lanes_url, lane))


class SqsDeadLetterQueues:
    """Implements DeadLetterQueues; a message attribute counts how often a letter was sent back."""

    def __init__(self, client: SQSClient, lanes_url: str) -> None:
        self._client = client
        self._lanes_url = lanes_url

    def count(self, lane: Lane) -> int:
        found = _backlog(self._client, dead_letters_url(self._lanes_url, lane))
        return found.waiting + found.in_flight

    def receive(self, lane: Lane, limit: int) -> list[DeadLetter]:
        with translate_aws_errors("sqs"):
            answer = self._client.receive_message(
                QueueUrl=dead_letters_url(self._lanes_url, lane),
                MaxNumberOfMessages=min(limit, BATCH),
                VisibilityTimeout=_LETTER_SECONDS,
                WaitTimeSeconds=_POLL_SECONDS,
                MessageAttributeNames=[_MOVES],
                MessageSystemAttributeNames=[_GROUP, MESSAGE_ATTRIBUTE],
            )
        return [_letter(message) for message in answer.get("Messages", [])]

    def send_back(self, lane: Lane, letter: DeadLetter) -> None:
        moves = str((letter.moves or 0) + 1)
        message: SendMessageRequestTypeDef = {
            "QueueUrl": lane_url(self._lanes_url, lane),
            "MessageBody": letter.body,
            "MessageAttributes": {_MOVES: {"DataType": "Number", "StringValue": moves}},
            "MessageSystemAttributes": attribute_of(letter.trace),
        }
        if letter.group is not None:
            message["MessageGroupId"] = letter.group
        with translate_aws_errors("sqs"):
            self._client.send_message(**message)
            self._client.delete_message(
                QueueUrl=dead_letters_url(self._lanes_url, lane), ReceiptHandle=letter.receipt
            )

    def set_aside(self, lane: Lane, letter: DeadLetter) -> None:
        with translate_aws_errors("sqs"):
            self._client.change_message_visibility(
                QueueUrl=dead_letters_url(self._lanes_url, lane),
                ReceiptHandle=letter.receipt,
                VisibilityTimeout=limits.DEAD_LETTER_HIDDEN_SECONDS,
            )


def _backlog(client: SQSClient, url: str) -> Backlog:
    with translate_aws_errors("sqs"):
        answer = client.get_queue_attributes(QueueUrl=url, AttributeNames=[_VISIBLE, _IN_FLIGHT])
    counts = answer["Attributes"]
    return Backlog(waiting=int(counts[_VISIBLE]), in_flight=int(counts[_IN_FLIGHT]))


def lane_url(lanes_url: str, lane: Lane) -> str:
    """Return the URL of a lane's queue."""
    return f"{lanes_url}{lane}"


def dead_letters_url(lanes_url: str, lane: Lane) -> str:
    """Return the URL of a lane's dead-letter queue."""
    return f"{lanes_url}{lane}-dead"


def _letter(message: MessageTypeDef) -> DeadLetter:
    return DeadLetter(
        body=message["Body"],
        receipt=message["ReceiptHandle"],
        moves=_moves(message),
        group=message.get("Attributes", {}).get(_GROUP),
        trace=message.get("Attributes", {}).get(MESSAGE_ATTRIBUTE, ""),
    )


def _moves(message: MessageTypeDef) -> int | None:
    """Return None for an invalid count: any sender can set it."""
    counted = message.get("MessageAttributes", {}).get(_MOVES)
    if counted is None:
        return 0
    text = counted.get("StringValue", "")
    return int(text) if _COUNT.fullmatch(text) else None


def message_of(ref: JobRef) -> str:
    """Return the body of a queue message."""
    return json.dumps({"tenant": ref.tenant, "job_id": ref.job_id})


def ref_of(body: str) -> JobRef:
    """Convert a `message_of` back to a reference. Raises ValueError for anything else."""
    value: Any = json.loads(body)
    match value:
        case {"tenant": str(tenant), "job_id": str(job_id)} if tenant and job_id:
            return JobRef(tenant=tenant, job_id=job_id)
    raise ValueError("not a job message")
