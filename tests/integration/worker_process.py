"""Program of a worker process: claims one job, waits for a line, commits one effect, and ends.

Arguments: tenant, job id, name of the worker. Lines on standard output report its progress.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

import boto3
from botocore.config import Config

from spinneret.aws import dynamo
from spinneret.jobs.dynamo import DynamoJobStore, lease_check
from spinneret.jobs.models import JobRef
from spinneret.jobs.worker import Context, Worker
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.errors import LeaseLost
from tests.fakes.jobs import FakeJobQueue
from tests.kinds import KINDS

LEASE_SECONDS = 1.0


def main(tenant: str, job_id: str, name: str) -> None:
    """Run the job on the given tables; the effect's row counts the commits of the effect."""
    options: Any = {"config": Config(inject_host_prefix=False)}
    client: Any = boto3.resource("dynamodb", **options).meta.client
    jobs, effects = os.environ["JOBS"], os.environ["EFFECTS"]

    def handle(context: Context) -> Mapping[str, Any]:
        print("claimed", flush=True)
        sys.stdin.readline()
        counted = dynamo.change(
            effects,
            {"pk": f"EFFECT#{job_id}"},
            ("ADD #times :one SET #by = :name", {":one": 1, ":name": name}),
            ("attribute_exists(#pk) OR attribute_not_exists(#pk)", {}),
        )
        try:
            dynamo.transact(client, [lease_check(jobs, context.lease), counted])
        except dynamo.ConditionFailed as failed:
            print("refused", flush=True)
            raise LeaseLost("it moved on") from failed
        print("committed", flush=True)
        return {"by": name}

    worker = Worker(
        store=DynamoJobStore(
            client, jobs, os.environ["IDEMPOTENCY"], os.environ["EVENTS"], clock=utc_now
        ),
        queue=FakeJobQueue(),
        kinds=KINDS,
        handlers={"crawl": handle},
        clock=utc_now,
        random=lambda: 0.5,
        new_owner=lambda: name,
    )
    remaining = LEASE_SECONDS - bounds.LEASE_MARGIN_SECONDS
    worker.run(JobRef(tenant=tenant, job_id=job_id), lambda: remaining)
    print("ended", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
