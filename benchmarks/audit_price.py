"""What an audit asks of AWS, and what that costs: `python benchmarks/audit_price.py [--pages 100]`.

The whole job on moto, its website in memory: calls, capacity units by the sizes of the items, and
the price of a run by AWS's list of us-east-1 (November 2026: on-demand DynamoDB, S3 Standard,
Lambda on x86, SQS). Time on Lambda is a request a second (the default pace of a host), and what
judging takes here.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(REPOSITORY / each) for each in ("layers/common", "functions", "infra/local", ".")
]

import boto3  # noqa: E402 - after the path above
from moto import mock_aws  # noqa: E402 - after the path above

from benchmarks.audit import HOST, generated  # noqa: E402 - after the path above
from spinneret.audits.dynamo import DynamoAuditStore  # noqa: E402 - after the path above
from spinneret.audits.s3 import S3Bodies  # noqa: E402 - after the path above
from spinneret.jobs.dynamo import DynamoJobStore  # noqa: E402 - after the path above
from spinneret.jobs.models import JobStatus  # noqa: E402 - after the path above
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore  # noqa: E402
from spinneret.web.politeness.dynamo import DynamoHostLedger  # noqa: E402
from tests.fakes.auditing import AuditWorld  # noqa: E402 - after the path above
from tests.tables import create_tables  # noqa: E402 - after the path above

WRITE, READ = 0.625e-6, 0.125e-6  # dollars a request unit
S3_WRITE, S3_READ = 0.005e-3, 0.0004e-3
GIGABYTE_SECOND, MESSAGE = 0.0000166667, 0.4e-6
MEMORY_GB = 1.0
KB = 1024


class Counting:
    """Calls and units of a DynamoDB client that takes plain values."""

    def __init__(self, client: Any) -> None:
        self.calls: Counter[str] = Counter()
        self.writes = 0
        self.reads = 0.0
        client.meta.events.register("before-parameter-build.dynamodb", self.asked)
        client.meta.events.register("after-call.dynamodb", self.answered)

    def asked(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        """What is written."""
        self.calls[model.name] += 1
        match model.name:
            case "TransactWriteItems":
                for each in params["TransactItems"]:
                    [(_, action)] = each.items()
                    self.writes += 2 * _units(action.get("Item", action))
            case "PutItem" | "UpdateItem" | "DeleteItem":
                self.writes += _units(params.get("Item", params))

    def answered(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        """What is read, consistently."""
        found = parsed.get("Items", [parsed["Item"]] if parsed.get("Item") else [])
        if model.name in {"GetItem", "Query", "BatchGetItem"}:
            for rows in parsed.get("Responses", {}).values():
                found = [*found, *rows]
            self.reads += max(1.0, math.ceil(sum(map(_size, found)) / (4 * KB)))


def _size(value: Any) -> int:
    return len(json.dumps(value, default=_text_of))


def _text_of(value: Any) -> str:
    """As long as a value that JSON doesn't know: bytes, in DynamoDB's wrapper or not."""
    return "x" * len(
        getattr(value, "value", value) if not isinstance(value, Decimal) else str(value)
    )


def _units(value: Any) -> int:
    return max(1, math.ceil(_size(value) / KB))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=100)
    pages = parser.parse_args().pages
    with mock_aws():
        client: Any = boto3.resource("dynamodb", region_name="us-east-1").meta.client
        s3 = boto3.client("s3", region_name="us-east-1")
        s3.create_bucket(Bucket="audits")
        names = create_tables(client)
        counting = Counting(client)
        objects: Counter[str] = Counter()
        s3.meta.events.register(
            "before-parameter-build.s3", lambda model, **_: objects.update([model.name])
        )
        world = AuditWorld()
        world.store = DynamoJobStore(client, names["Jobs"], names["Idempotency"])  # type: ignore[assignment]
        world.audits = DynamoAuditStore(  # type: ignore[assignment]
            client, names["Audits"], names["Jobs"], clock=world.clock
        )
        world.bodies = S3Bodies(s3, "audits")  # type: ignore[assignment]
        world.frontier = DynamoFrontierStore(client, names["Frontier"])  # type: ignore[assignment]
        world.sessions = DynamoHostLedger(client, names["Domains"])  # type: ignore[assignment]
        world.request_seconds = 0.3
        for page in generated(pages):
            world.pages[page.url.text] = page
        began = world.clock()
        ref = world.submit(f"{HOST}/", options={"max_pages": pages})
        job = world.settle(ref)
        assert job.status is JobStatus.COMPLETED, job
        table(counting, objects, world, job.worked_ms / 1000, job.fence)
        print(f"{'seconds from end to end':34} {(world.clock() - began).total_seconds():10.0f}")


def table(
    counting: Counting, objects: Counter[str], world: AuditWorld, seconds: float, slices: int
) -> None:
    """Calls, units, dollars."""
    paces = world.hosts.ledger.updates
    writes, reads = counting.writes + paces, counting.reads + len(world.asked)
    puts, gets = objects["PutObject"], objects["GetObject"]
    seconds += 15  # judging and reports, which the clock of this benchmark doesn't count
    rows = [
        ("requests to the web", len(world.asked), 0.0),
        ("slices (invocations, messages)", slices, 3 * slices * MESSAGE),
        ("DynamoDB write units", writes, writes * WRITE),
        ("DynamoDB read units", reads, reads * READ),
        ("S3 writes", puts, puts * S3_WRITE),
        ("S3 reads", gets, gets * S3_READ),
        ("Lambda GB-seconds", seconds * MEMORY_GB, seconds * MEMORY_GB * GIGABYTE_SECOND),
    ]
    for name, amount, dollars in rows:
        print(f"{name:34} {amount:10,.0f} {dollars:12.5f} $")
    print(f"{'together':34} {'':10} {sum(row[2] for row in rows):12.5f} $")
    for name, count in counting.calls.most_common():
        print(f"    {name:30} {count:10,}")


if __name__ == "__main__":
    main()
