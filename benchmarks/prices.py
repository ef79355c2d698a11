"""AWS prices, and counters of the calls that a program makes.

The prices are list prices of us-east-1; docs/cost.md has the sources: DynamoDB on demand, S3
Standard, Lambda on x86, SQS standard queues, Step Functions standard workflows, custom buses of
EventBridge, REST APIs of API Gateway, OpenSearch on demand, KMS, Secrets Manager, CloudWatch.
"""

import json
import math
from collections import Counter
from decimal import Decimal
from typing import Any, Final

WRITE: Final = 0.625e-6
READ: Final = 0.125e-6
"""Dollars per request unit."""
S3_WRITE: Final = 0.005e-3
S3_READ: Final = 0.0004e-3
GIGABYTE_SECOND: Final = 0.0000166667
INVOCATION: Final = 0.2e-6
MESSAGE: Final = 0.4e-6
"""Price of a request to SQS; a message takes three: send, receive, delete."""
GROUPED_MESSAGE: Final = 0.5e-6
"""Price of a request to a fair queue: a standard queue with message groups, such as a lane."""
TRANSITION: Final = 25e-6
BUS_EVENT: Final = 1e-6
API_REQUEST: Final = 3.5e-6
NODE_HOURS: Final = {"t3.small.search": 0.036, "r7g.large.search": 0.178}
SEARCH_GIBIBYTE: Final = 0.122
"""Price of a GiB of gp3 storage per month; the following prices are also per month."""
KMS_KEY: Final = 1.0
SECRET: Final = 0.40
CUSTOM_METRIC: Final = 0.30
ALARM_METRIC: Final = 0.10
COMPOSITE_ALARM: Final = 0.50
DASHBOARD: Final = 3.0

_READS: Final = frozenset({"GetItem", "Query", "BatchGetItem"})
_WRITES: Final = frozenset(
    {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
)
_KB: Final = 1024


class Counting:
    """Counter of calls and units of DynamoDB clients that take plain values.

    The units follow from the sizes of the items. Writes to indexes aren't counted.
    """

    def __init__(self, events: Any) -> None:
        """Register for the events of a client, or of a boto3 session for all its later clients."""
        self.calls: Counter[str] = Counter()
        self.writes = 0
        self.reads = 0.0
        events.register("before-parameter-build.dynamodb", self.asked)
        events.register("after-call.dynamodb", self.answered)

    def asked(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """Count the call and its write units."""
        self.calls[model.name] += 1
        match model.name:
            case "TransactWriteItems":
                for each in params["TransactItems"]:
                    [(_, action)] = each.items()
                    self.writes += 2 * _units(action.get("Item", action))
            case "BatchWriteItem":
                for requests in params["RequestItems"].values():
                    self.writes += sum(map(_units, requests))
            case "PutItem" | "UpdateItem" | "DeleteItem":
                self.writes += _units(params.get("Item", params))

    def answered(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """Count the read units of the response, as for a consistent read."""
        found = parsed.get("Items", [parsed["Item"]] if parsed.get("Item") else [])
        if model.name in _READS:
            for rows in parsed.get("Responses", {}).values():
                found = [*found, *rows]
            self.reads += max(1.0, math.ceil(sum(map(_size, found)) / (4 * _KB)))


class Spending:
    """Counter of the calls of all later clients of a boto3 session, and of DynamoDB's units.

    DynamoDB reports the units, with indexes. DynamoDB Local reports 0 for a read without results;
    like AWS, the counter then adds the minimum for the read's consistency.
    """

    def __init__(self, events: Any) -> None:
        self.calls: Counter[str] = Counter()
        """Number of calls by name, such as `dynamodb.GetItem` or `s3.PutObject`."""
        self.writes = 0.0
        self.reads = 0.0
        events.register("before-parameter-build", self._asked)
        events.register("after-call.dynamodb", self._answered)

    def of(self, service: str, *operations: str) -> int:
        """Return the number of calls of these operations, or of the whole service without any."""
        named = {f"{service}.{each}" for each in operations}
        return sum(
            count
            for name, count in self.calls.items()
            if name in named or (not named and name.startswith(f"{service}."))
        )

    def _asked(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        service = model.service_model.service_name
        self.calls[f"{service}.{model.name}"] += 1
        if service == "dynamodb" and model.name in _READS | _WRITES:
            params["ReturnConsumedCapacity"] = "TOTAL"
            context["least"] = _least(params)  # per call: threads share the client

    def _answered(
        self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any
    ) -> None:
        consumed = parsed.get("ConsumedCapacity") or []
        listed = consumed if isinstance(consumed, list) else [consumed]
        units = sum(each["CapacityUnits"] for each in listed)
        if model.name in _READS:
            self.reads += max(units, context["least"])
        else:
            self.writes += units


def _least(params: dict[str, Any]) -> float:
    if "RequestItems" not in params:
        return 1.0 if params.get("ConsistentRead") else 0.5
    return sum(
        (1.0 if each.get("ConsistentRead") else 0.5) * len(each["Keys"])
        for each in params["RequestItems"].values()
        if "Keys" in each  # else the request is a write
    )


def _size(value: Any) -> int:
    return len(json.dumps(value, default=_text_of))


def _text_of(value: Any) -> str:
    """Return a text as long as a value that JSON doesn't have, such as bytes or a Decimal."""
    return "x" * len(
        getattr(value, "value", value) if not isinstance(value, Decimal) else str(value)
    )


def _units(value: Any) -> int:
    return max(1, math.ceil(_size(value) / _KB))
