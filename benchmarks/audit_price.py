"""Measure an audit's AWS usage and its price: `python benchmarks/audit_price.py [--pages 100]`.

The benchmark runs the whole job on moto, with the website in memory. It counts calls and capacity
units (from the sizes of the items), and computes the price of a run with benchmarks/prices.py. The
time on Lambda is one second per request (the default rate limit of a host), plus the time of the
checks and reports.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [
    str(REPOSITORY / each) for each in ("layers/common", "functions", "infra/local", ".")
]

import boto3
from moto import mock_aws

from benchmarks.audit import HOST, generated
from benchmarks.prices import (
    GIGABYTE_SECOND,
    MESSAGE,
    READ,
    S3_READ,
    S3_WRITE,
    WRITE,
    Counting,
)
from spinneret.audits.dynamo import DynamoAuditStore
from spinneret.audits.s3 import S3AuditObjectStore
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import JobStatus
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from tests.fakes.auditing import AuditWorld
from tests.tables import create_tables

MEMORY_GB = 1.0


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
        counting = Counting(client.meta.events)
        objects: Counter[str] = Counter()
        s3.meta.events.register(
            "before-parameter-build.s3", lambda model, **_: objects.update([model.name])
        )
        world = AuditWorld()
        world.store = DynamoJobStore(  # type: ignore[assignment]
            client, names["Jobs"], names["Idempotency"], names["Events"], clock=world.clock
        )
        world.audits = DynamoAuditStore(  # type: ignore[assignment]
            client, names["Audits"], names["Jobs"], clock=world.clock
        )
        world.bodies = S3AuditObjectStore(s3, "audits")  # type: ignore[assignment]
        world.frontier = DynamoFrontierStore(client, names["Frontier"])  # type: ignore[assignment]
        world.sessions = DynamoHostStateStore(client, names["Domains"])  # type: ignore[assignment]
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
    """Print calls, units and dollars."""
    paces = world.hosts.ledger.updates
    writes, reads = counting.writes + paces, counting.reads + len(world.asked)
    puts, gets = objects["PutObject"], objects["GetObject"]
    seconds += 15  # checks and reports; the clock of this benchmark doesn't count them
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
