"""Dead letters on SQS: they return to their lane a few times, then they are set aside."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import EndpointConnectionError

from spinneret.aws.tracing import attribute_of
from spinneret.jobs import limits
from spinneret.jobs.models import DeadLetter, JobRef
from spinneret.jobs.redrive import Redrive, RedriveResult
from spinneret.jobs.sqs import SqsDeadLetterQueues, message_of
from spinneret.kernel.errors import DependencyUnavailable
from tests.contract.backends import OF_REAL_AWS
from tests.kinds import CRAWL_HIGH

pytestmark = OF_REAL_AWS

LANE = CRAWL_HIGH
RECEIVE_SECONDS = 20.0


@pytest.fixture
def urls(client_of: Callable[[str], Any]) -> Iterator[dict[str, str]]:
    client, prefix = client_of("sqs"), f"contract-{uuid4().hex[:12]}-"
    lane = prefix + LANE
    made = {
        name: client.create_queue(QueueName=queue)["QueueUrl"]
        for name, queue in (
            ("lane", lane),
            ("dead", f"{lane}-dead"),
            ("rules", f"{prefix}rules-dead"),
        )
    }
    yield made
    for url in made.values():
        client.delete_queue(QueueUrl=url)


@pytest.fixture
def queues(client_of: Callable[[str], Any], urls: dict[str, str]) -> SqsDeadLetterQueues:
    return SqsDeadLetterQueues(client_of("sqs"), urls["lane"].removesuffix(LANE))


def received(queues: SqsDeadLetterQueues) -> list[DeadLetter]:
    """Return the letters of the queue, once there are some. Fails after RECEIVE_SECONDS."""
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
        # The lane moves the letter to the dead-letter queue again, with its attributes.
        client.send_message(
            QueueUrl=urls["dead"], MessageBody=body, MessageAttributes=back["MessageAttributes"]
        )
        client.delete_message(QueueUrl=urls["lane"], ReceiptHandle=back["ReceiptHandle"])
    [letter] = received(queues)
    assert letter.moves == limits.DEAD_LETTER_MOVES


@pytest.mark.heavy  # waits for messages of an empty queue
def test_a_pass_sends_back_what_has_moves_left_and_sets_the_rest_aside(
    queues: SqsDeadLetterQueues, client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    client = client_of("sqs")
    for number in range(12):
        moves = {"moves": {"DataType": "Number", "StringValue": str(number % 4)}}
        client.send_message(
            QueueUrl=urls["dead"], MessageBody=f"not a job {number}", MessageAttributes=moves
        )
    assert Redrive(queues, [LANE]).run() == RedriveResult(
        sent_back=9, set_aside=3, lanes_unavailable=0
    )
    assert queues.receive(LANE, 10) == []
    assert sorted(_bodies(client, urls["lane"], 9)) == sorted(
        f"not a job {number}" for number in range(12) if number % 4 != limits.DEAD_LETTER_MOVES
    )


def test_a_letter_that_the_lane_does_not_take_stays(
    queues: SqsDeadLetterQueues, client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    """The letter is deleted only after the lane has accepted it."""
    client = client_of("sqs")
    client.send_message(QueueUrl=urls["dead"], MessageBody="not a job")
    [letter] = received(queues)
    calls: list[str] = []

    def refuse(model: Any, **_: Any) -> None:
        calls.append(model.name)
        if model.name == "SendMessage":
            raise EndpointConnectionError(endpoint_url="https://sqs")

    events = queues._client.meta.events
    events.register("before-call.sqs", refuse)
    try:
        with pytest.raises(DependencyUnavailable):
            queues.send_back(LANE, letter)
    finally:
        events.unregister("before-call.sqs", refuse)
    assert calls == ["SendMessage"]
    counts = client.get_queue_attributes(QueueUrl=urls["dead"], AttributeNames=["All"])
    assert counts["Attributes"]["ApproximateNumberOfMessagesNotVisible"] == "1"


TRACE = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1"


@pytest.mark.parametrize(("group", "trace"), [("acme", TRACE), (None, "")])
def test_a_letter_goes_back_into_its_group_and_trace(
    queues: SqsDeadLetterQueues,
    client_of: Callable[[str], Any],
    urls: dict[str, str],
    group: str | None,
    trace: str,
) -> None:
    """Without message groups, the queue is not fair between tenants."""
    client = client_of("sqs")
    grouped = {"MessageGroupId": group} if group else {}
    client.send_message(
        QueueUrl=urls["dead"],
        MessageBody="not a job",
        MessageSystemAttributes=attribute_of(trace),
        **grouped,
    )
    [letter] = received(queues)
    queues.send_back(LANE, letter)
    [back] = _messages(client, urls["lane"])
    assert back["Attributes"].get("MessageGroupId") == group
    assert back["Attributes"].get("AWSTraceHeader", "") == trace


UNREADABLE = {
    "a word": {"DataType": "String", "StringValue": "three"},
    "another script's digit": {"DataType": "String", "StringValue": "\u0663"},
    "endless": {"DataType": "String", "StringValue": "9" * 5000},
    "a fraction": {"DataType": "Number", "StringValue": "1.5"},
    "below none": {"DataType": "Number", "StringValue": "-1"},
    "bytes": {"DataType": "Binary", "BinaryValue": b"1"},
}


@pytest.mark.heavy  # as above
def test_letters_whose_counts_are_unreadable_are_set_aside_and_hold_up_nobody(
    queues: SqsDeadLetterQueues, client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    client = client_of("sqs")
    for body, count in UNREADABLE.items():
        client.send_message(
            QueueUrl=urls["dead"], MessageBody=body, MessageAttributes={"moves": count}
        )
    client.send_message(QueueUrl=urls["dead"], MessageBody="plain")
    assert Redrive(queues, [LANE]).run() == RedriveResult(
        sent_back=1, set_aside=len(UNREADABLE), lanes_unavailable=0
    )
    assert _bodies(client, urls["lane"], 1) == ["plain"]


def test_an_answer_without_letters_means_that_there_are_none(
    client_of: Callable[[str], Any], urls: dict[str, str]
) -> None:
    """A short poll queries only some SQS servers and may miss messages; a long poll queries all."""
    client, waits = client_of("sqs"), list[int]()

    def look(params: dict[str, Any], **_: Any) -> None:
        waits.append(params.get("WaitTimeSeconds", 0))

    sees = "provide-client-params.sqs.ReceiveMessage"
    client.meta.events.register(sees, look)
    try:
        queues = SqsDeadLetterQueues(client, urls["lane"].removesuffix(LANE))
        assert queues.receive(LANE, 10) == []
    finally:
        client.meta.events.unregister(sees, look)
    assert waits[0] > 0


def _bodies(client: Any, url: str, count: int) -> list[str]:
    found: list[str] = []
    deadline = time.monotonic() + RECEIVE_SECONDS
    while len(found) < count and time.monotonic() < deadline:
        found += [message["Body"] for message in _messages(client, url)]
    return found


def _messages(client: Any, url: str) -> list[Any]:
    answer = client.receive_message(
        QueueUrl=url,
        MaxNumberOfMessages=10,
        WaitTimeSeconds=1,
        MessageAttributeNames=["All"],
        MessageSystemAttributeNames=["All"],
    )
    return list(answer.get("Messages", []))
