"""SQS queue of checks."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from typing import Final

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.tracing import message_attributes
from spinneret.aws.types import SQSClient
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.monitoring.due.messages import checks_message
from spinneret.monitoring.due.models import Planned

CHECKS: Final = "checks"
_BATCH: Final = 10  # SQS limit of SendMessageBatch
_DELAY_MAX_SECONDS: Final = 900  # SQS limit of DelaySeconds
_SENT_AT_ONCE: Final = 8  # half of a client's connections


class SqsCheckLane:
    """Implements CheckLane; a queue's URL ends with the lane's name, as for job lanes.

    The message group is the tenant, which makes the queue fair (see `jobs.sqs`).
    """

    def __init__(self, client: SQSClient, lanes_url: str, clock: Clock) -> None:
        self._client = client
        self._url = f"{lanes_url}{CHECKS}"
        self._clock = clock

    def send(self, planned: Sequence[Planned]) -> None:
        in_order = sorted(planned, key=lambda each: each.at)
        parts = list(batched(in_order, _BATCH))
        if len(parts) == 1:
            self._send(parts[0])
            return
        with ThreadPoolExecutor(_SENT_AT_ONCE) as pool:
            list(pool.map(self._send, parts))

    def _send(self, planned: Sequence[Planned]) -> None:
        now = self._clock()
        with translate_aws_errors("sqs"):
            answer = self._client.send_message_batch(
                QueueUrl=self._url,
                Entries=[
                    {
                        "Id": str(number),
                        "MessageBody": checks_message(each.checks),
                        "MessageGroupId": each.checks[0].tenant,
                        "DelaySeconds": _delay((each.at - now).total_seconds()),
                        "MessageSystemAttributes": message_attributes(),
                    }
                    for number, each in enumerate(planned)
                ],
            )
        if answer.get("Failed"):
            raise DependencyUnavailable("sqs", "refused a message")


def _delay(seconds: float) -> int:
    """Return whole seconds, rounded up: a check may not begin before its time."""
    return min(max(0, math.ceil(seconds)), _DELAY_MAX_SECONDS)
