"""Children that start soon after their parent was read."""

from collections.abc import Mapping
from typing import Any

import pytest

from spinneret.jobs import rules
from spinneret.jobs.models import JobStatus, ParentState
from spinneret.jobs.worker import Context
from tests import factories
from tests.unit.jobs.worker_world import WorkerWorld

PARENT = factories.job(id="job_parent", family=ParentState(shards=1))


@pytest.mark.parametrize(
    ("holds_steps", "seconds", "works"),
    [
        (True, 1.9, True),  # the parent isn't read again
        (True, 2.0, False),
        (True, -0.1, False),  # the clock was set back
        (False, 0.0, False),  # acts on foreign systems: its parent is read each time
    ],
)
def test_a_child_knows_a_parent_that_was_read_less_than_two_seconds_ago(
    world: WorkerWorld, *, holds_steps: bool, seconds: float, works: bool
) -> None:
    worked: list[str] = []

    def handler(context: Context) -> Mapping[str, Any]:
        worked.append(context.job.id)
        return {}

    world.holds_steps = holds_steps
    worker = world.worker(handler)
    world.add(PARENT)
    children = [factories.job(id=f"job_child_{n}", parent=PARENT.id) for n in range(2)]
    for child in children:
        world.add(child)
    world.clock.advance(1)
    worker.run(children[0].ref, lambda: world.remaining)
    cancelled = rules.cancel(PARENT, world.clock())
    world.store.transition(PARENT, cancelled)
    world.clock.advance(seconds)
    worker.run(children[1].ref, lambda: world.remaining)
    assert worked == ["job_child_0", "job_child_1"][: 1 + works]
    second = world.store.get(children[1].ref)
    assert second is not None
    assert second.status == (JobStatus.COMPLETED if works else JobStatus.CANCELLED)
