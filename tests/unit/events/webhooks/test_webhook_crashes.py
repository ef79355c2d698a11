"""A job's end reaches its receiver even if the process dies at any external call."""

from contextlib import suppress

import pytest

from spinneret.events.webhooks.models import DeliveryStatus
from spinneret.jobs.models import JobStatus
from tests.fakes.crashes import Crash, CrashPlan, Moment
from tests.fakes.webhook_world import WebhookWorld


def prepared() -> WebhookWorld:
    """Return a world with an accepted job whose end goes to one endpoint."""
    hooks = WebhookWorld()
    hooks.endpoint()
    hooks.submit()
    return hooks


def work(hooks: WebhookWorld, plan: CrashPlan) -> None:
    """Run the job, then its delivery, from their queue messages."""
    hooks.wrap = plan.wrap
    for _ in range(2):
        for sent in hooks.queue.take():
            hooks.run(sent.ref)


def points() -> list[tuple[int, Moment]]:
    plan = CrashPlan()
    work(prepared(), plan)
    assert {"store.submit", "queue.send", "receiver.fetch", "log.write"} <= set(plan.calls)
    return plan.points()


@pytest.mark.parametrize(("at", "moment"), points())
def test_wherever_a_process_ends_the_message_arrives_under_one_id(at: int, moment: Moment) -> None:
    hooks, plan = prepared(), CrashPlan(at, moment)
    with suppress(Crash):
        work(hooks, plan)
    assert plan.crashed
    hooks.wrap = lambda _, port: port
    hooks.recover()
    assert 1 <= len(hooks.receiver.ids) <= 2
    [delivery] = hooks.deliveries()
    assert delivery.status is JobStatus.COMPLETED
    [line] = hooks.lines(delivery.payload["endpoint_id"])
    assert line.status is DeliveryStatus.DELIVERED
    assert set(hooks.receiver.ids) == {line.id}
