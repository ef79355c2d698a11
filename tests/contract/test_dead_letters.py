"""Dead letters on SQS: back to their lane a few times, then at rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from spinneret.jobs.models import DeadLetter, JobRef, Lane
from spinneret.jobs.redrive import Redrive, Redriven
from spinneret.jobs.sqs import SqsDeadLetterQueues, message_of
from spinneret.kernel import limits
from tests.contract.backends import OF_REAL_AWS

pytestmark = OF_REAL_AWS

LANE = Lane.CRAWL_HIGH
RECEIVE_SECONDS = 20.0


@pytest.fixture
def urls(client_of: Callable[[str], Any]) -> Iterator[dict[str, str]]:
    client = client_of("sqs")
    made = {
        name: client.create_queue(QueueName=f"contract-{name}-{uuid4().hex[:12]}")["QueueUrl"]
        for name in ("lane", "dead")
    }
    yield made
    for url in made.values():
        client.delete_queue(QueueUrl=url)


@pytest.fixture
def queues(client_of: Callable[[str], Any], urls: dict[str, str]) -> SqsDeadLetterQueues:
    return SqsDeadLetterQueues(client_of("sqs"), {LANE: urls["lane"]}, {LANE: urls["dead"]})


def received(queues: SqsDeadLetterQueues) -> list[DeadLetter]:
    """The letters that are there, within a while."""
    deadline = time.monotonic() + RECEIVE_SECONDS
    while time.monotonic() < deadline:
        if letters := queues.receive(LANE, 10):
            return letters
    raise AssertionError("no letter came")


def test_a_letter_goes_back_as_it_was_and_counts_its_way(
    queues: SqsDeadLetterQueues, client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    client, body = client_of("sqs"), message_of(JobRef(tenant="größe", job_id="job_1"))
    client.send_message(QueueUrl=urls["dead"], MessageBody=body)
    for moves in range(limits.DEAD_LETTER_MOVES):
        [letter] = received(queues)
        assert (letter.body, letter.moves) == (body, moves)
        queues.send_back(LANE, letter)
        [back] = _messages(client, urls["lane"])
        assert back["Body"] == body
        # The lane gives it up again; its attributes go with it.
        client.send_message(
            QueueUrl=urls["dead"], MessageBody=body, MessageAttributes=back["MessageAttributes"]
        )
        client.delete_message(QueueUrl=urls["lane"], ReceiptHandle=back["ReceiptHandle"])
    [letter] = received(queues)
    assert letter.moves == limits.DEAD_LETTER_MOVES


def test_a_pass_sends_back_what_has_moves_left_and_lets_the_rest_rest(
    queues: SqsDeadLetterQueues, client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    client = client_of("sqs")
    for number in range(12):
        moves = {"moves": {"DataType": "Number", "StringValue": str(number % 4)}}
        client.send_message(
            QueueUrl=urls["dead"], MessageBody=f"not a job {number}", MessageAttributes=moves
        )
    done = Redriven(sent_back=0, at_rest=0)
    deadline = time.monotonic() + RECEIVE_SECONDS
    while done.sent_back + done.at_rest < 12 and time.monotonic() < deadline:
        more = Redrive(queues, [LANE]).run()
        done = Redriven(
            sent_back=done.sent_back + more.sent_back, at_rest=done.at_rest + more.at_rest
        )
    assert done == Redriven(sent_back=9, at_rest=3)
    assert queues.receive(LANE, 10) == []
    assert sorted(_bodies(client, urls["lane"], 9)) == sorted(
        f"not a job {number}" for number in range(12) if number % 4 != limits.DEAD_LETTER_MOVES
    )


def _bodies(client: Any, url: str, count: int) -> list[str]:
    found: list[str] = []
    deadline = time.monotonic() + RECEIVE_SECONDS
    while len(found) < count and time.monotonic() < deadline:
        found += [message["Body"] for message in _messages(client, url)]
    return found


def _messages(client: Any, url: str) -> list[Any]:
    answer = client.receive_message(
        QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1, MessageAttributeNames=["All"]
    )
    return list(answer.get("Messages", []))
