"""Messages to SQS queues.

On a standard queue the message group makes the queue fair: a tenant with a backlog doesn't delay
the others' messages (SQS developer guide, "Amazon SQS fair queues").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.tracing import message_attributes
from spinneret.aws.types import SQSClient
from spinneret.kernel.errors import DependencyUnavailable

BATCH: Final = 10  # SQS limit: SendMessageBatch takes ten entries, ReceiveMessage returns as many


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a tenant that becomes visible after `delay_seconds`."""

    tenant: str
    body: str
    delay_seconds: int


def send_batch(client: SQSClient, url: str, messages: Sequence[Message]) -> None:
    """Send up to BATCH messages in one call. Raises DependencyUnavailable, also for a refused one.

    They carry the trace of the caller.
    """
    with translate_aws_errors("sqs"):
        answer = client.send_message_batch(
            QueueUrl=url,
            Entries=[
                {
                    "Id": str(number),
                    "MessageBody": each.body,
                    "MessageGroupId": each.tenant,
                    "DelaySeconds": each.delay_seconds,
                    "MessageSystemAttributes": message_attributes(),
                }
                for number, each in enumerate(messages)
            ],
        )
    if answer.get("Failed"):
        raise DependencyUnavailable("sqs", "refused a message")
