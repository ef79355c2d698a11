"""Two workers on one job, one of them stopped and resumed later: a single effect (F4)."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.models import Job, JobStatus
from spinneret.jobs.ports import NewJob
from spinneret.jobs.sweeper import Sweeper
from spinneret.kernel.clock import utc_now
from tests import factories
from tests.conftest import REGION, ROOT, Aws, Stack
from tests.fakes.jobs import FakeJobQueue, no_parent
from tests.kinds import KINDS
from tests.tables import own_tables
from tests.waiting import waited

pytestmark = pytest.mark.stack

SECONDS = 30.0


class WorkerProcess:
    """A process that runs `worker_process`."""

    def __init__(self, name: str, job: Job, stack: Stack, names: dict[str, str]) -> None:
        variables = {
            "AWS_ENDPOINT_URL": stack.gateway_url,
            "AWS_ENDPOINT_URL_DYNAMODB": stack.dynamodb_url,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "000000000000",
            "AWS_SECRET_ACCESS_KEY": "local",
            "JOBS": names["Jobs"],
            "IDEMPOTENCY": names["Idempotency"],
            "EVENTS": names["Events"],
            "EFFECTS": names["Documents"],
            "PYTHONPATH": f"{ROOT}/layers/common:{ROOT}",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.worker_process", job.tenant, job.id, name],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self) -> str:
        """Return the process's next line of output."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def go_on(self) -> None:
        """Send the line for which the process waits."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def end(self) -> int:
        """Wait for the process and return its exit code; kill it after a time-out."""
        try:
            self._process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        return self._process.returncode


@pytest.fixture
def tables(aws: Aws) -> Iterator[tuple[Any, dict[str, str]]]:
    client = aws.dynamodb()
    with own_tables(client) as names:
        yield client, names


def _sweep_until_the_lease_is_over(store: DynamoJobStore) -> None:
    sweeper = Sweeper(
        store=store,
        queue=FakeJobQueue(),
        kinds=KINDS,
        clock=utc_now,
        look_at_parent=no_parent,
    )
    waited(lambda: sweeper.sweep().leases_expired, seconds=SECONDS)


# covers P-02
def test_a_worker_that_was_stopped_past_its_lease_commits_nothing(
    tables: tuple[Any, dict[str, str]], stack: Stack
) -> None:
    client, names = tables
    store = DynamoJobStore(
        client, names["Jobs"], names["Idempotency"], names["Events"], clock=utc_now
    )
    job = factories.job(id=f"job_{uuid4().hex}", created_at=utc_now(), due_at=utc_now())
    store.submit([NewJob(job=job)], [factories.event()], None, factories.reply(), utc_now())
    first = WorkerProcess("first", job, stack, names)
    second = None
    try:
        assert first.says() == "claimed"
        first.signal(signal.SIGSTOP)
        _sweep_until_the_lease_is_over(store)
        second = WorkerProcess("second", job, stack, names)
        assert second.says() == "claimed"
        second.go_on()
        assert [second.says(), second.says()] == ["committed", "ended"]
        first.signal(signal.SIGCONT)
        first.go_on()
        assert [first.says(), first.says()] == ["refused", "ended"]
    finally:
        first.signal(signal.SIGCONT)
        codes = [each.end() for each in (first, second) if each is not None]
    assert codes == [0, 0]
    done = store.get(job.ref)
    assert done is not None
    assert (done.status, done.result) == (JobStatus.COMPLETED, {"by": "second"})
    effect = client.get_item(TableName=names["Documents"], Key={"pk": f"EFFECT#{job.id}"})["Item"]
    assert (effect["times"], effect["by"]) == (1, "second")
    reported = [event.message for event in store.events(job.ref, None, 99)]
    assert reported == ["pending", "pending", "running", "completed"]
