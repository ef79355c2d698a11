"""Contract tests of job queues: the fake, moto, and SQS of the stack."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import EndpointConnectionError

from spinneret.jobs.models import Backlog, JobRef, Lane
from spinneret.jobs.ports import JobQueue
from spinneret.jobs.sqs import SqsJobQueue, ref_of
from spinneret.kernel.errors import DependencyUnavailable
from tests.contract.backends import OF_AWS
from tests.fakes.jobs import FakeJobQueue
from tests.kinds import CRAWL_HIGH, CRAWL_LOW

pytestmark = OF_AWS

RECEIVE_SECONDS = 20.0
Received = Callable[[Lane, int], list[JobRef]]


@pytest.fixture
def urls(client_of: Callable[[str], Any] | None) -> Iterator[dict[Lane, str]]:
    """Provide the URLs of a new queue for each of two lanes; none for the fake."""
    if client_of is None:
        yield {}
        return
    client, stage = client_of("sqs"), uuid4().hex[:12]
    made = {
        lane: client.create_queue(QueueName=f"contract-{stage}-{lane}")["QueueUrl"]
        for lane in (CRAWL_HIGH, CRAWL_LOW)
    }
    yield made
    for url in made.values():
        client.delete_queue(QueueUrl=url)


@pytest.fixture
def queue(urls: dict[Lane, str], client_of: Callable[[str], Any] | None) -> JobQueue:
    if client_of is None:
        return FakeJobQueue()
    return SqsJobQueue(client_of("sqs"), urls[CRAWL_HIGH].removesuffix(CRAWL_HIGH))


@pytest.fixture
def received(
    queue: JobQueue, urls: dict[Lane, str], client_of: Callable[[str], Any] | None
) -> Received:
    """Provide a function that receives the messages of a lane that aren't delayed."""

    def of_fake(lane: Lane, _: int) -> list[JobRef]:
        assert isinstance(queue, FakeJobQueue)
        return [sent.ref for sent in queue.sent if sent.lane == lane and not sent.delay]

    def of_sqs(lane: Lane, count: int) -> list[JobRef]:
        assert client_of is not None
        client, found = client_of("sqs"), list[JobRef]()
        deadline = time.monotonic() + RECEIVE_SECONDS
        while len(found) < count and time.monotonic() < deadline:
            found += _receive(client, urls[lane], wait=1)
        return found + _receive(client, urls[lane], wait=0)

    return of_fake if client_of is None else of_sqs


def _receive(client: Any, url: str, wait: int) -> list[JobRef]:
    answer = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=wait)
    return [ref_of(message["Body"]) for message in answer.get("Messages", [])]


def refs(tenant: str, count: int) -> list[JobRef]:
    return [JobRef(tenant=tenant, job_id=f"job_{n:04d}") for n in range(count)]


@pytest.mark.parametrize("count", [1, 10, 11, 25])
def test_every_job_is_sent_once_to_its_lane(
    queue: JobQueue, received: Received, tenant: str, count: int
) -> None:
    sent = refs(tenant, count)
    queue.send(CRAWL_HIGH, sent)
    assert sorted(received(CRAWL_HIGH, count), key=lambda ref: ref.job_id) == sent
    assert received(CRAWL_LOW, 0) == []


def test_nothing_to_send_sends_nothing(queue: JobQueue, received: Received) -> None:
    queue.send(CRAWL_HIGH, [])
    assert received(CRAWL_HIGH, 0) == []


def test_a_delayed_message_is_not_there_at_once(
    queue: JobQueue, received: Received, tenant: str
) -> None:
    queue.send(CRAWL_HIGH, refs(tenant, 1), delay_seconds=900)
    assert received(CRAWL_HIGH, 0) == []


def test_a_backlog_counts_what_waits_in_the_lane_and_nothing_that_is_delayed(
    queue: JobQueue, tenant: str
) -> None:
    queue.send(CRAWL_HIGH, refs(tenant, 12))
    queue.send(CRAWL_HIGH, refs(tenant, 5), delay_seconds=900)
    deadline = time.monotonic() + RECEIVE_SECONDS
    while queue.backlog(CRAWL_HIGH).waiting != 12 and time.monotonic() < deadline:
        time.sleep(0.1)  # the count is approximate
    assert queue.backlog(CRAWL_HIGH) == Backlog(waiting=12, in_flight=0)
    assert queue.backlog(CRAWL_LOW) == Backlog(waiting=0, in_flight=0)


def test_names_of_any_script_arrive_as_they_are(queue: JobQueue, received: Received) -> None:
    ref = JobRef(tenant="acme", job_id='job_"🕷"\\')
    queue.send(CRAWL_LOW, [ref])
    assert received(CRAWL_LOW, 1) == [ref]


def test_every_tenant_is_a_group_of_its_own_so_that_the_queue_is_fair(
    queue: JobQueue, urls: dict[Lane, str], client_of: Callable[[str], Any] | None, tenant: str
) -> None:
    queue.send(CRAWL_HIGH, refs(tenant, 1))
    if client_of is None:
        return
    answer = client_of("sqs").receive_message(
        QueueUrl=urls[CRAWL_HIGH], WaitTimeSeconds=5, MessageSystemAttributeNames=["All"]
    )
    assert [each["Attributes"]["MessageGroupId"] for each in answer["Messages"]] == [tenant]


def test_a_queue_that_does_not_answer_is_unavailable(
    queue: JobQueue, client_of: Callable[[str], Any] | None, tenant: str
) -> None:
    def unreachable(**_: Any) -> None:
        raise EndpointConnectionError(endpoint_url="https://sqs")

    if isinstance(queue, FakeJobQueue):
        queue.available = False
        events = None
    else:
        assert client_of is not None
        client = client_of("sqs")
        queue = SqsJobQueue(client, "https://sqs/queue-")
        events = client.meta.events
        events.register_first("before-call.sqs", unreachable)
    try:
        with pytest.raises(DependencyUnavailable):
            queue.send(CRAWL_HIGH, refs(tenant, 1))
        with pytest.raises(DependencyUnavailable):
            queue.backlog(CRAWL_HIGH)
    finally:
        if events is not None:
            events.unregister("before-call.sqs", unreachable)
