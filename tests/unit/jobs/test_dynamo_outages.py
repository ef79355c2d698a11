"""Error responses of a busy DynamoDB, and the exceptions that the job store raises for them."""

import io
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError

from spinneret.jobs import rules
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import Priority
from spinneret.jobs.ports import ResendShard
from spinneret.kernel.errors import DependencyUnavailable
from tests import factories
from tests.fakes.time import START, HandClock

COLLISION = "TransactionConflict"
Call = Callable[[DynamoJobStore], Any]

RUNNING = factories.running_job(START)
CALLS: dict[str, Call] = {
    "get": lambda store: store.get(RUNNING.ref),
    "claim": lambda store: store.claim(RUNNING.ref, "one", START, START),
    "find_reply": lambda store: store.find_reply(factories.request_key(), START),
    "find_duplicates": lambda store: store.find_duplicates("acme", ["same"]),
    "submit": lambda store: store.submit([], [], factories.request_key(), factories.reply(), START),
    "transition": lambda store: store.transition(RUNNING, rules.hand_back(RUNNING, START)),
    "to_wake": lambda store: store.to_wake(0, START, 1),
    "to_resend": lambda store: store.to_resend(ResendShard("crawl", Priority.LOW, 0), START, 1),
    "events": lambda store: store.events(RUNNING.ref, None, 1),
}


def store_that_meets(answer: Callable[[], Any]) -> DynamoJobStore:
    """Return a store whose requests get their response from `answer` and aren't sent."""
    once = Config(retries={"total_max_attempts": 1})
    client = _session().resource("dynamodb", config=once).meta.client
    client.meta.events.register("before-send.dynamodb", lambda **_: answer())
    return DynamoJobStore(client, "jobs", "idempotency", clock=HandClock())


def refusal(code: str, *reasons: str, status: int = 400) -> Callable[[], Any]:
    """Return an error response; `reasons` are those of a cancelled transaction."""
    body = {"__type": code, "CancellationReasons": [{"Code": reason} for reason in reasons]}
    return lambda: _response(status, body)


def unreachable() -> Any:
    raise EndpointConnectionError(endpoint_url="https://dynamodb")


def _response(status: int, body: Any) -> AWSResponse:
    return AWSResponse("https://dynamodb", status, {}, _Raw(json.dumps(body).encode()))


@cache
def _session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-east-1"
    )


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> list[bytes]:
        return [self.getvalue()]


OUTAGES = {
    "throttled": refusal("ThrottlingException"),
    "over capacity": refusal("ProvisionedThroughputExceededException"),
    "server error": refusal("InternalServerError", status=500),
    "unreachable": unreachable,
}


@pytest.mark.parametrize("outage", list(OUTAGES))
@pytest.mark.parametrize("call", list(CALLS))
def test_an_outage_is_a_dependency_that_is_unavailable(call: str, outage: str) -> None:
    with pytest.raises(DependencyUnavailable):
        CALLS[call](store_that_meets(OUTAGES[outage]))


@pytest.mark.parametrize(
    ("call", "collision"),
    [
        ("claim", refusal("TransactionConflictException")),
        ("submit", refusal("TransactionCanceledException", COLLISION, "None")),
        ("transition", refusal("TransactionCanceledException", COLLISION)),
    ],
    ids=["claim", "submit", "transition"],
)
def test_a_collision_with_somebody_s_transaction_is_an_outage(
    call: str, collision: Callable[[], Any]
) -> None:
    """DynamoDB rejects a write of an item that is part of another transaction."""
    with pytest.raises(DependencyUnavailable):
        CALLS[call](store_that_meets(collision))


@pytest.mark.parametrize("call", ["find_reply", "find_duplicates"])
def test_keys_that_a_busy_table_leaves_out_are_an_outage(call: str) -> None:
    """The store must not treat unprocessed keys as keys that don't exist."""
    left_out = {"idempotency": {"Keys": [{"pk": {"S": "T#acme#SAME#same"}}]}}
    answer = {"Responses": {}, "UnprocessedKeys": left_out}
    with pytest.raises(DependencyUnavailable):
        CALLS[call](store_that_meets(lambda: _response(200, answer)))


def test_keys_that_an_answer_had_no_room_for_are_asked_for_again() -> None:
    """A response of BatchGetItem holds at most 16 MB."""
    answers = iter([_part("a", left=["b", "c"]), _part(left=["b", "c"]), _part("b", left=["c"])])
    store = store_that_meets(lambda: _response(200, next(answers, _part("c"))))
    found = store.find_duplicates("acme", ["a", "b", "c"])
    assert found == {"a": "job_a", "b": "job_b", "c": "job_c"}


def _part(*found: str, left: Sequence[str] = ()) -> dict[str, Any]:
    """Return a response of BatchGetItem; if no key is unprocessed, `UnprocessedKeys` is empty."""
    keys = [{"pk": {"S": f"T#acme#SAME#{each}"}} for each in left]
    items = [{"pk": {"S": f"T#acme#SAME#{each}"}, "job_id": {"S": f"job_{each}"}} for each in found]
    rest = {"idempotency": {"Keys": keys, "ConsistentRead": True}} if keys else {}
    return {"Responses": {"idempotency": items}, "UnprocessedKeys": rest}


@pytest.mark.parametrize("code", ["ValidationException", "ResourceNotFoundException"])
def test_a_wrong_call_stays_an_exception(code: str) -> None:
    for call in CALLS.values():
        with pytest.raises(ClientError):
            call(store_that_meets(refusal(code)))
