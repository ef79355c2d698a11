"""SQS queue of checks."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import batched
from typing import Final

from spinneret.aws.queue import BATCH, Message, send_batch
from spinneret.aws.types import SQSClient
from spinneret.kernel.clock import Clock
from spinneret.monitoring.due.messages import checks_message
from spinneret.monitoring.due.models import Planned

CHECKS: Final = "checks"
_DELAY_MAX_SECONDS: Final = 900  # SQS limit of DelaySeconds
_SENT_AT_ONCE: Final = 8  # half of a client's connections


class SqsCheckLane:
    """Implements CheckLane; a queue's URL ends with the lane's name, as for job lanes."""

    def __init__(self, client: SQSClient, lanes_url: str, clock: Clock) -> None:
        self._client = client
        self._url = f"{lanes_url}{CHECKS}"
        self._clock = clock

    def send(self, planned: Sequence[Planned]) -> None:
        in_order = sorted(planned, key=lambda each: each.at)
        parts = list(batched(in_order, BATCH))
        if len(parts) == 1:
            self._send(parts[0])
            return
        with ThreadPoolExecutor(_SENT_AT_ONCE) as pool:
            list(pool.map(self._send, parts))

    def _send(self, planned: Sequence[Planned]) -> None:
        now = self._clock()
        messages = [
            Message(
                tenant=each.checks[0].tenant,
                body=checks_message(each.checks),
                delay_seconds=_delay((each.at - now).total_seconds()),
            )
            for each in planned
        ]
        send_batch(self._client, self._url, messages)


def _delay(seconds: float) -> int:
    """Return whole seconds, rounded up: a check may not begin before its time."""
    return min(max(0, math.ceil(seconds)), _DELAY_MAX_SECONDS)
