"""Job store on DynamoDB Local: threads, lost responses and collisions, which no fake can show."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from spinneret.jobs import rules
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.ports import Claimed, NewJob, SubmissionRaced
from spinneret.kernel.errors import DependencyUnavailable, LeaseLost
from tests import factories
from tests.contract.backends import Tables, job_store
from tests.contract.races import Race, racing
from tests.contract.stored_jobs import SECOND, UNTIL, claimed, new_job, submitted
from tests.fakes.time import START

pytestmark = pytest.mark.stack

THREADS = 50
ROUNDS = 25
DEADLINE_SECONDS = 60.0


@pytest.fixture
def race() -> Iterator[Race]:
    with racing(THREADS) as together:
        yield together


@pytest.fixture
def lossy(aws: Any, stack_tables: Tables) -> tuple[DynamoJobStore, list[str]]:
    """Provide a store whose client loses each operation's first response, and the sent calls."""
    client = aws.dynamodb()
    sent: list[str] = []

    def lose(request: Any, **_: Any) -> None:
        operation = request.headers["X-Amz-Target"].decode().rpartition(".")[2]
        sent.append(operation)
        if sent.count(operation) == 1:
            client._endpoint.http_session.send(request)
            raise ReadTimeoutError(endpoint_url=request.url)

    client.meta.events.register("before-send.dynamodb", lose)
    return job_store(replace(stack_tables, client=client)), sent


# ---------------------------------------------------------------- Threads


# covers P-02
def test_of_simultaneous_claimers_exactly_one_wins(
    stack_tables: Tables, tenant: str, race: Callable[..., list[Any]]
) -> None:
    store = job_store(stack_tables)
    for number in range(ROUNDS):
        job = submitted(store, tenant)
        outcomes = race(lambda n, ref=job.ref: store.claim(ref, f"owner-{n}", START, UNTIL))
        winners = [each for each in outcomes if isinstance(each, Claimed)]
        assert len(winners) == 1, f"round {number}"
        assert store.get(job.ref) == winners[0].job
        assert winners[0].lease.fence == 1


def test_of_simultaneous_outcomes_exactly_one_is_written(
    stack_tables: Tables, tenant: str, race: Callable[..., list[Any]]
) -> None:
    store = job_store(stack_tables)
    job = claimed(store, tenant)

    def complete(number: int) -> bool:
        after = rules.complete(job, {"by": number}, START + SECOND)
        noted = [factories.event(fence=1, number=number)]
        try:
            _answer_of(lambda: store.transition(job, after, noted))
        except LeaseLost:
            return False
        return True

    won = race(complete)
    assert won.count(True) == 1
    found = store.get(job.ref)
    assert found is not None
    assert found.result == {"by": won.index(True)}
    assert [event.number for event in store.events(job.ref, factories.event().id, 99)] == [
        won.index(True)
    ]


def test_of_simultaneous_submissions_of_one_page_exactly_one_is_accepted(
    stack_tables: Tables, tenant: str, race: Callable[..., list[Any]]
) -> None:
    store = job_store(stack_tables)
    jobs = [new_job(tenant, duplicate_key="same") for _ in range(THREADS)]

    def submit(number: int) -> bool:
        news = [NewJob(job=jobs[number])]
        noted = [factories.event()]
        try:
            _answer_of(lambda: store.submit(news, noted, None, factories.reply(), START))
        except SubmissionRaced:
            return False
        return True

    won = race(submit)
    assert won.count(True) == 1
    assert [store.get(job.ref) is not None for job in jobs] == won
    assert store.find_duplicates(tenant, ["same"]) == {"same": jobs[won.index(True)].id}


# ---------------------------------------------------------------- Lost responses


def test_a_claim_recognises_itself_when_its_answer_was_lost(
    lossy: tuple[DynamoJobStore, list[str]], stack_tables: Tables, tenant: str
) -> None:
    store, sent = lossy
    job = submitted(job_store(stack_tables), tenant)
    outcome = store.claim(job.ref, "one", START, UNTIL)
    assert sent == ["UpdateItem"] * 2
    assert isinstance(outcome, Claimed)
    assert outcome.lease.fence == 1


def test_a_transition_whose_answer_was_lost_is_written_once(
    lossy: tuple[DynamoJobStore, list[str]], stack_tables: Tables, tenant: str
) -> None:
    store, sent = lossy
    before = claimed(job_store(stack_tables), tenant)
    after = rules.complete(before, {"n": 1}, START + SECOND)
    store.transition(before, after, [factories.event(fence=1, number=1)])
    assert sent == ["TransactWriteItems"] * 2
    assert store.get(before.ref) == after


def test_a_submission_whose_answer_was_lost_is_accepted_once(
    lossy: tuple[DynamoJobStore, list[str]], tenant: str
) -> None:
    store, sent = lossy
    job = new_job(tenant, duplicate_key="same")
    request = factories.request_key(tenant=tenant)
    store.submit([NewJob(job=job)], [factories.event()], request, factories.reply(), START)
    assert sent == ["TransactWriteItems"] * 2
    assert store.get(job.ref) == job


def _answer_of(call: Callable[[], Any]) -> Any:
    """Repeat the call while the store reports colliding transactions; return the result."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        try:
            return call()
        except DependencyUnavailable:
            if time.monotonic() > deadline:
                raise
