"""Transactions that DynamoDB cancels, and the maximum time of its calls."""

import itertools
from typing import Any

import pytest
from botocore.exceptions import ClientError

from spinneret.aws import clients as aws
from spinneret.aws import dynamo
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import JobStatus, ParentState
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.fakes.time import HandClock


class Client:
    """A client that responds to transactions as scripted."""

    def __init__(self, *answers: list[str] | None) -> None:
        self.calls = 0
        self._answers = list(answers)

    def transact_write_items(self, **_: Any) -> None:
        self.calls += 1
        reasons = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if reasons is not None:
            answer: Any = {
                "Error": {"Code": "TransactionCanceledException"},
                "CancellationReasons": [{"Code": reason} for reason in reasons],
            }
            raise ClientError(answer, "TransactWriteItems")


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without waits, because the tests count only the calls."""
    monkeypatch.setattr(dynamo, "_WAIT_SECONDS", 0.0)


PASSING = [
    ["TransactionConflict"],
    ["ThrottlingError"],
    ["ProvisionedThroughputExceeded"],
    ["None", "ThrottlingError", "None", "TransactionConflict"],
    [],
]


@pytest.mark.parametrize("reasons", PASSING)
def test_a_cancellation_that_goes_by_is_tried_again(reasons: list[str]) -> None:
    client: Any = Client(reasons, reasons, None)
    dynamo.transact(client, [])
    assert client.calls == 3


@pytest.mark.parametrize("reasons", PASSING)
def test_a_cancellation_that_stays_is_an_outage(reasons: list[str]) -> None:
    client: Any = Client(reasons)
    with pytest.raises(DependencyUnavailable):
        dynamo.transact(client, [])
    assert client.calls == 4


def test_a_single_write_that_collides_with_a_transaction_is_tried_again() -> None:
    answers: Any = iter(["TransactionConflictException"] * 3)

    def write(**_: Any) -> dict[str, Any]:
        if code := next(answers, None):
            raise ClientError({"Error": {"Code": code}}, "UpdateItem")
        return {"Attributes": {}}

    assert dynamo.write_if(write) == {"Attributes": {}}
    answers = itertools.repeat("TransactionConflictException")
    with pytest.raises(DependencyUnavailable):
        dynamo.write_if(write)


def test_births_that_collide_with_ends_are_tried_more_often() -> None:
    client: Any = Client(*[["TransactionConflict"]] * 7, None)
    parent = factories.job(
        status=JobStatus.RUNNING, fence=1, locked_by="one", family=ParentState(shards=12)
    )
    store = DynamoJobStore(client, "jobs", "keys", clock=HandClock())
    store.add_children(parent, parent, [], [], lease=factories.lease(parent))
    assert client.calls == 8


@pytest.mark.parametrize("besides", ["None", "ThrottlingError", "TransactionConflict"])
def test_a_condition_that_does_not_hold_is_not_tried_again(besides: str) -> None:
    client: Any = Client([besides, "ConditionalCheckFailed"])
    with pytest.raises(dynamo.ConditionFailed) as failed:
        dynamo.transact(client, [])
    assert (client.calls, failed.value.standing) == (1, {1: {}})


@pytest.mark.parametrize("besides", ["None", "ThrottlingError"])
def test_a_write_that_is_wrong_stays_an_exception(besides: str) -> None:
    client: Any = Client([besides, "ValidationError"])
    with pytest.raises(ClientError):
        dynamo.transact(client, [])
    assert client.calls == 1


# ---------------------------------------------------------------- Time


def _longest(config: Any) -> float:
    tries = config.retries["total_max_attempts"]
    waits = sum(2.0**n for n in range(tries - 1))  # botocore, mode "standard": up to 1, 2, 4 s …
    return float(tries * (config.connect_timeout + config.read_timeout) + waits)


def test_a_call_takes_no_longer_than_we_reckon_with() -> None:
    assert aws.CONFIG.retries["mode"] == "standard"  # type: ignore[attr-defined]  # botocore's
    assert _longest(aws.CONFIG) <= bounds.AWS_CALL_SECONDS


def test_a_bucket_that_hangs_leaves_the_worker_its_end() -> None:
    assert _longest(aws.BUCKETS) <= bounds.DEADLINE_MARGIN_SECONDS


def test_a_hand_back_that_begins_at_the_margin_ends_before_the_deadline() -> None:
    """The margin covers all tries of the write and one of the message; a sweep can resend it."""
    one_try = bounds.AWS_CONNECT_SECONDS + bounds.AWS_READ_SECONDS
    assert bounds.AWS_CALL_SECONDS + one_try <= bounds.DEADLINE_MARGIN_SECONDS
