"""`make doctor` on a deployed stage: without faults, and with three faults at once (P-13)."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from spinneret.jobs.sqs import dead_letters_url
from tests.conftest import Aws
from tests.e2e.conftest import Deployed
from tests.e2e.stopping import stopped
from tests.kinds import CRAWL_LOW

pytestmark = [pytest.mark.stack, pytest.mark.alone]


# covers P-13
def test_a_stage_in_order_has_no_fault_and_each_fault_is_named(
    deployed: Deployed, aws: Aws
) -> None:
    sqs, dead = aws("sqs"), dead_letters_url(deployed.outputs["LanesUrl"], CRAWL_LOW)
    for url in sqs.list_queues()["QueueUrls"]:
        if url.endswith("-dead"):
            sqs.purge_queue(QueueUrl=url)
    code, sound = examined(deployed)
    assert code in {0, 1}  # before the first sign-in, a stage has a warning
    assert {"stacks", "schedules", "queues", "opensearch", "dynamodb", "index"} <= sound["ok"]
    with ExitStack() as faults:
        for rule in ("SweeperEveryMinute", "RedriveEveryFiveMinutes"):  # it takes letters
            faults.enter_context(disabled(aws("events"), deployed.resources[rule]))
        faults.callback(sqs.purge_queue, QueueUrl=dead)
        faults.enter_context(stopped(deployed.stack, "opensearch"))
        letters = f"queue {dead.rpartition('/')[2]}"
        for _ in range(2):  # a pass in progress may take the first letter
            sqs.send_message(QueueUrl=dead, MessageBody="not a job")
            code, found = examined(deployed)
            if letters in found["fault"]:
                break
    assert code == 2
    assert {"schedule SweeperEveryMinute", letters, "opensearch", "index"} <= found["fault"]
    assert {"stacks", "dynamodb"} <= found["ok"]


def examined(deployed: Deployed) -> tuple[int, dict[str, set[str]]]:
    """Return the exit code of `make doctor`, and the parts by state."""
    done = deployed.stack.command("doctor", seconds=120)
    found: dict[str, set[str]] = {"ok": set(), "warning": set(), "fault": set()}
    for line in done.stdout.splitlines()[1:]:
        state, part, *_ = re.split(r" {2,}", line)
        found[state].add(part)
    return done.returncode, found


@contextmanager
def disabled(events: Any, rule: str) -> Iterator[None]:
    """Disable the schedule within the context."""
    events.disable_rule(Name=rule)
    try:
        yield
    finally:
        events.enable_rule(Name=rule)
