"""SQS queues of ticks and of checks."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from spinneret.aws.clients import translate_aws_errors
from spinneret.aws.types import SQSClient
from spinneret.monitoring.due.messages import list_message, tick_message
from spinneret.monitoring.due.models import DueTarget

TICKS: Final = "check-ticks"
CHECKS: Final = "checks"


class SqsCheckLanes:
    """Implements CheckLanes; a queue's URL ends with the lane's name, as for job lanes."""

    def __init__(self, client: SQSClient, lanes_url: str) -> None:
        self._client = client
        self._lanes_url = lanes_url

    def announce(self, at: datetime, delays: Sequence[int]) -> None:
        for delay in delays:
            self._send(TICKS, tick_message(at + timedelta(seconds=delay)), delay)

    def hand(self, ticked_at: datetime, targets: Sequence[DueTarget]) -> None:
        self._send(CHECKS, list_message(ticked_at, targets))

    def _send(self, lane: str, body: str, delay: int = 0) -> None:
        with translate_aws_errors("sqs"):
            self._client.send_message(
                QueueUrl=f"{self._lanes_url}{lane}", MessageBody=body, DelaySeconds=delay
            )
