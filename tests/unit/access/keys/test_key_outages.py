"""Errors of the stores of keys and windows when DynamoDB is busy or contended."""

import io
import json
from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError, EndpointConnectionError

from spinneret.access.keys import items, rules
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import SlidingWindow
from spinneret.kernel.errors import DependencyUnavailable, RateLimited
from tests import factories
from tests.fakes.time import START

KEY = factories.api_key()
Call = Callable[[Any], Any]

CALLS: dict[str, Call] = {
    "add": lambda client: DynamoKeyStore(client, "keys").add(KEY, START, 1),
    "find": lambda client: DynamoKeyStore(client, "keys").find(KEY.secret_hash),
    "get": lambda client: DynamoKeyStore(client, "keys").get("acme", KEY.id),
    "page": lambda client: DynamoKeyStore(client, "keys").page("acme", None, 1),
    "revoke": lambda client: DynamoKeyStore(client, "keys").revoke("acme", KEY.id, START),
    "add_ticket": lambda client: DynamoKeyStore(client, "keys").add_ticket(
        factories.stored_ticket()
    ),
    "find_ticket": lambda client: DynamoKeyStore(client, "keys").find_ticket("0"),
    "take": lambda client: DynamoRateLimitStore(client, "keys").take("acme", KEY.id, 1, START),
}


def client_that_meets(answer: Callable[[str], Any]) -> Any:
    """Return a client that sends no requests: `answer` gives the response to each operation."""
    once = Config(retries={"total_max_attempts": 1})
    client = _session().resource("dynamodb", config=once).meta.client

    def answered(request: Any, **_: Any) -> Any:
        return answer(request.headers["X-Amz-Target"].decode().rpartition(".")[2])

    client.meta.events.register("before-send.dynamodb", answered)
    return client


def response(body: Any, status: int = 200) -> AWSResponse:
    return AWSResponse("https://dynamodb", status, {}, _Raw(json.dumps(body).encode()))


def refusal(code: str, status: int = 400) -> Callable[[str], Any]:
    return lambda _: response({"__type": code}, status)


def unreachable(_: str) -> Any:
    raise EndpointConnectionError(endpoint_url="https://dynamodb")


def raced(operation: str) -> Any:
    """Answer as in a lost race: the read finds a key, and every write fails its condition."""
    match operation:
        case "GetItem":
            row = items.KEYS.encode(KEY)
            shown = ("id", "tenant", "name", "secret_hash", "prefix", "created_at")
            item: dict[str, Any] = {name: {"S": row[name]} for name in shown}
            item |= {"scopes": {"L": []}, "rate_limit_rpm": {"N": "60"}}
            return response({"Item": item})
        case "TransactWriteItems":
            reasons = [{"Code": "ConditionalCheckFailed"}, {"Code": "None"}, {"Code": "None"}]
            body = {"__type": "TransactionCanceledException", "CancellationReasons": reasons}
            return response(body, 400)
        case _:
            return response({"__type": "ConditionalCheckFailedException"}, 400)


@cache
def _session() -> boto3.Session:
    return boto3.Session(
        aws_access_key_id="testing", aws_secret_access_key="testing", region_name="us-east-1"
    )


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> list[bytes]:
        return [self.getvalue()]


@pytest.mark.parametrize(
    "outage",
    [refusal("ThrottlingException"), refusal("InternalServerError", 500), unreachable],
    ids=["throttled", "server error", "unreachable"],
)
@pytest.mark.parametrize("call", [each for each in CALLS if each != "take"])
def test_an_outage_is_a_dependency_that_is_unavailable(call: str, outage: Any) -> None:
    with pytest.raises(DependencyUnavailable):
        CALLS[call](client_that_meets(outage))


@pytest.mark.parametrize("outage", [refusal("InternalServerError", 500), unreachable])
def test_a_window_that_is_out_of_reach_is_a_dependency_that_is_unavailable(outage: Any) -> None:
    with pytest.raises(DependencyUnavailable):
        CALLS["take"](client_that_meets(outage))


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "Throttling",
        "ThrottlingException",
    ],
)
def test_a_window_that_is_asked_too_often_refuses(code: str) -> None:
    with pytest.raises(RateLimited):
        CALLS["take"](client_that_meets(refusal(code)))


@pytest.mark.parametrize("call", list(CALLS))
def test_a_wrong_call_stays_an_exception(call: str) -> None:
    with pytest.raises(ClientError):
        CALLS[call](client_that_meets(refusal("ValidationException")))


@pytest.mark.parametrize(
    ("call", "end", "times"),
    [
        ("add", DependencyUnavailable, 5),
        ("revoke", DependencyUnavailable, 5),
        ("take", RateLimited, 10),
    ],
)
def test_a_race_that_is_always_lost_ends_after_five_times(
    call: str, end: type[Exception], times: int
) -> None:
    operations: list[str] = []

    def noted(operation: str) -> Any:
        operations.append(operation)
        return raced(operation)

    with pytest.raises(end):
        CALLS[call](client_that_meets(noted))
    assert len([each for each in operations if each != "GetItem"]) == times


def test_a_request_beside_others_of_its_second_is_one_update() -> None:
    """Every request costs this one update; DynamoDB returns the window's row after it."""
    operations: list[str] = []
    window = SlidingWindow(slot=rules.slot_of(START), began=0, count=2, room=60)
    row = {
        name: {"S": value} if isinstance(value, str) else {"N": str(value)}
        for name, value in items.window_attributes(window).items()
    }

    def counted(operation: str) -> Any:
        operations.append(operation)
        return response({"Attributes": row})

    answer = DynamoRateLimitStore(client_that_meets(counted), "t").take("acme", "key_1", 60, START)
    assert (answer.admitted, answer.remaining) == (True, 58)
    assert operations == ["UpdateItem"]
