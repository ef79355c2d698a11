"""The worker's Lambda handler: each message fails on its own, and jobs store the outcomes."""

import json
from typing import Any

import pytest

from spinneret.aws.stage import Builder
from spinneret.jobs.models import JobRef, JobStatus
from spinneret.jobs.sqs import message_of
from spinneret.kernel.errors import DependencyUnavailable, UrlBlocked
from spinneret.runtime.queue import QueueHandler, worker_entrypoint
from tests.fakes.crawling import CrawlWorld
from tests.fakes.fetching import fetched_page
from tests.metrics import lines_of
from tests.unit.runtime.api import Invocation

URL = "https://site.example/page"
MALFORMED = [
    "",
    "text",
    "null",
    "[]",
    "{}",
    '{"tenant": "acme"}',
    '{"tenant": "acme", "job_id": 7}',
    '{"tenant": "", "job_id": "job_1"}',
    '{"tenant": "acme", "job_id": ""}',
]


class Lane:
    """A lane's function over one world."""

    def __init__(self) -> None:
        self.crawls = CrawlWorld()
        self.built = 0
        self._handler: QueueHandler = worker_entrypoint(Builder(self._build), "crawl-worker")

    def _build(self, _: Any) -> Any:
        self.built += 1
        return self.crawls.worker()

    def deliver(self, *bodies: str, seconds: float = 60.0) -> list[str]:
        """Deliver messages in one batch, and return the numbers of those that failed."""
        records = [record(number, body) for number, body in enumerate(bodies)]
        answer = self._handler({"Records": records}, Invocation(seconds))  # type: ignore[arg-type]  # stands for LambdaContext
        return [each["itemIdentifier"] for each in answer["batchItemFailures"]]

    def job(self, path: str = "") -> JobRef:
        url = URL + path
        self.crawls.pages[url] = fetched_page(url, "Spiders weave silk.")
        return self.crawls.submit(url)


@pytest.fixture
def lane() -> Lane:
    return Lane()


def record(number: int, body: str) -> dict[str, Any]:
    """Return a message as the event source mapping passes it."""
    return {
        "messageId": str(number),
        "receiptHandle": f"handle-{number}",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1767355200000",
            "SenderId": "AIDAEXAMPLE",
            "ApproximateFirstReceiveTimestamp": "1767355200001",
        },
        "messageAttributes": {},
        "md5OfBody": "0" * 32,
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:crawl-normal",
        "awsRegion": "us-east-1",
    }


def test_a_batch_of_messages_is_worked_off(lane: Lane) -> None:
    refs = [lane.job("/a"), lane.job("/b")]
    assert lane.deliver(*map(message_of, refs)) == []
    assert {lane.crawls.job(ref).status for ref in refs} == {JobStatus.COMPLETED}


# covers P-04
@pytest.mark.parametrize("body", MALFORMED)
def test_a_malformed_message_fails_alone(lane: Lane, body: str) -> None:
    refs = [lane.job("/a"), lane.job("/b")]
    assert lane.deliver(message_of(refs[0]), body, message_of(refs[1])) == ["1"]
    assert {lane.crawls.job(ref).status for ref in refs} == {JobStatus.COMPLETED}


@pytest.mark.parametrize("body", MALFORMED[:2])
def test_a_batch_of_malformed_messages_only_raises_nothing(lane: Lane, body: str) -> None:
    assert lane.deliver(body, body) == ["0", "1"]


def test_a_job_that_fails_is_no_message_that_fails(lane: Lane) -> None:
    ref = lane.job()
    lane.crawls.pages[URL] = fetched_page(URL, status_code=404)
    assert lane.deliver(message_of(ref)) == []
    assert lane.crawls.job(ref).status is JobStatus.FAILED


def test_an_unknown_job_s_message_is_done_with(lane: Lane) -> None:
    assert lane.deliver(message_of(JobRef(tenant="acme", job_id="job_unknown"))) == []


def test_a_job_twice_in_a_batch_is_done_once(lane: Lane) -> None:
    ref = lane.job()
    assert lane.deliver(*[message_of(ref)] * 3) == []
    assert lane.crawls.job(ref).fence == 1


def test_a_message_comes_back_when_the_store_is_down(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    down, up = lane.job("/a"), lane.job("/b")
    working = lane.crawls.store.claim

    def claim(ref: JobRef, *given: Any) -> Any:
        if ref == down:
            raise DependencyUnavailable("dynamodb")
        return working(ref, *given)

    monkeypatch.setattr(lane.crawls.store, "claim", claim)
    assert lane.deliver(message_of(down), message_of(up)) == ["0"]
    assert lane.crawls.job(up).status is JobStatus.COMPLETED


def test_a_worker_near_the_deadline_of_its_invocation_hands_back(lane: Lane) -> None:
    ref = lane.job()
    lane.crawls.queue.take()
    assert lane.deliver(message_of(ref), seconds=4.0) == []
    job = lane.crawls.job(ref)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
    assert [sent.ref for sent in lane.crawls.queue.take()] == [ref]


def test_one_process_builds_its_worker_once(lane: Lane) -> None:
    for _ in range(3):
        lane.deliver(message_of(lane.job()))
    assert lane.built == 1


def test_a_message_is_read_as_it_was_written() -> None:
    ref = JobRef(tenant="acme", job_id="job_1")
    assert json.loads(message_of(ref)) == {"tenant": "acme", "job_id": "job_1"}


# covers P-12
def test_a_failed_crawl_is_logged_with_its_url_and_the_request(
    lane: Lane, capsys: pytest.CaptureFixture[str]
) -> None:
    ref = lane.job()
    lane.crawls.pages[URL] = UrlBlocked("leads to an address that must not be reached")
    lane.deliver(message_of(ref))
    lines = lines_of(capsys.readouterr().out)
    [failed] = [line for line in lines if line["message"] == "crawl_failed"]
    assert (failed["url"], failed["request_id"]) == (URL, Invocation.aws_request_id)
    assert failed["error_type"] == "UrlBlocked"
