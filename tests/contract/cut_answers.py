"""DynamoDB responses that end after two rows, as real ones end after 1 MB.

A store that ignores `LastEvaluatedKey`, `UnprocessedKeys` or `UnprocessedItems` loses rows then.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

ROWS: Final = 2
_REST: Final = {"BatchGetItem": "UnprocessedKeys", "BatchWriteItem": "UnprocessedItems"}


def cut_answers(client: Any) -> Any:
    """Make the client cut every response to a Query, Scan or batch; return the client."""
    events = client.meta.events
    for operation in ("Query", "Scan"):
        events.register(f"before-call.dynamodb.{operation}", _limit)
    for operation, rest in _REST.items():
        events.register(f"before-call.dynamodb.{operation}", _withhold)
        # Runs before boto3's own handler, which converts typed values into plain ones.
        events.register_first(f"after-call.dynamodb.{operation}", _report(rest))
    return client


@contextmanager
def whole_scans(client: Any) -> Iterator[None]:
    """Stop cutting scans in this context: the test scans a table that other tests fill."""
    event, events = "before-call.dynamodb.Scan", client.meta.events
    events.unregister(event, _limit)
    try:
        yield
    finally:
        events.register(event, _limit)


def _limit(params: dict[str, Any], **_: Any) -> None:
    request = json.loads(params["body"])
    request["Limit"] = min(request.get("Limit", ROWS), ROWS)
    params["body"] = json.dumps(request).encode()


def _withhold(params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
    request = json.loads(params["body"])
    context["withheld"] = withheld = {}
    for table, asked in request["RequestItems"].items():
        rows = asked["Keys"] if isinstance(asked, dict) else asked
        rest, rows[ROWS:] = rows[ROWS:], []
        if rest:
            withheld[table] = {**asked, "Keys": rest} if isinstance(asked, dict) else rest
    params["body"] = json.dumps(request).encode()


def _report(rest: str) -> Any:
    def report(parsed: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        if withheld := context.pop("withheld", None):
            parsed[rest] = {**parsed.get(rest, {}), **_parsed(withheld)}

    return report


def _parsed(value: Any) -> Any:
    """Return the value as botocore parses it, with the base64 of binaries decoded."""
    if isinstance(value, dict):
        return {
            name: b64decode(each) if name == "B" and isinstance(each, str) else _parsed(each)
            for name, each in value.items()
        }
    return [_parsed(each) for each in value] if isinstance(value, list) else value
