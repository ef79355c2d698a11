"""Every run of a job has an end of its own, which is delivered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spinneret.events.webhooks.notifier import Notifier
from spinneret.jobs import rules
from spinneret.jobs.models import JobStatus
from spinneret.jobs.ports import Claimed
from spinneret.kernel.errors import NotFound
from tests import factories
from tests.fakes.jobs import FakeJobQueue, FakeJobStore
from tests.fakes.time import START, HandClock
from tests.fakes.webhooks import FakeEndpointStore
from tests.unit.jobs.submissions import service_on

URL = "https://hooks.example/in"


@pytest.mark.parametrize("first_delivery", ["waits", "is done"])
def test_the_end_of_the_next_run_is_a_delivery_of_its_own(
    store: FakeJobStore, queue: FakeJobQueue, clock: HandClock, first_delivery: str
) -> None:
    jobs = service_on(store, queue, clock)
    publish = Notifier(endpoints=FakeEndpointStore(), jobs=jobs, store=store)
    running = factories.running_job(START, notify=(URL,), started_at=START)
    failed = rules.after_error(running, NotFound("gone"), START, 0.5)
    again = replace(rules.retry(failed, START), status=JobStatus.FAILED, finished_at=START)
    publish(failed, ())
    [first] = queue.sent
    if first_delivery == "is done":
        claimed = store.claim(first.ref, "one", clock(), clock())
        assert isinstance(claimed, Claimed)
        store.transition(claimed.job, rules.complete(claimed.job, {}, clock()))
    publish(failed, ())
    assert queue.take() == [first], "the end of one run is delivered once"
    publish(again, ())
    assert len(queue.take()) == 1
