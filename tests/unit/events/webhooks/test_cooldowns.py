"""Cooldowns of targets after time-outs, overload and slow responses."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from spinneret.events.webhooks.models import Cooldown, DeliveryStatus
from spinneret.jobs.models import Job, JobStatus
from spinneret.kernel.errors import DomainError, FetchFailed, FetchTimeout
from tests.fakes.webhook_world import WebhookWorld, answer
from tests.fakes.webhooks import FakeCooldowns

SILENT = FetchTimeout("receiver.example did not answer in time")


def delivery_of(hooks: WebhookWorld) -> Job:
    """Complete one more job and return its delivery."""
    hooks.finish()
    return hooks.deliveries()[-1]


def void(_: object) -> None:
    """Do nothing, as a callback."""


@pytest.mark.parametrize(
    "given",
    [SILENT, FetchFailed("no address"), answer(429), answer(502), answer(503), answer(504)],
    ids=["silence", "no address", "429", "502", "503", "504"],
)
def test_after_silence_and_overload_other_deliveries_wait(
    hooks: WebhookWorld, given: DomainError
) -> None:
    endpoint, _ = hooks.endpoint()
    first, second = (delivery_of(hooks) for _ in range(2))
    hooks.receiver.answers = [given]
    hooks.run(first.ref)
    waiting = hooks.run(second.ref)
    assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
    assert waiting.waiting_for == "receiver.example"
    assert waiting.due_at == hooks.clock() + timedelta(seconds=10)
    assert len(hooks.receiver.requests) == 1
    assert {line.next_attempt_at is None for line in hooks.lines(endpoint.id)} == {False}


@pytest.mark.parametrize("status", [500, 404, 200])
def test_any_answer_but_overload_ends_the_wait(hooks: WebhookWorld, status: int) -> None:
    endpoint, _ = hooks.endpoint()
    first, second = (delivery_of(hooks) for _ in range(2))
    hooks.receiver.answers = [SILENT, answer(status)]
    hooks.run(first.ref)
    hooks.clock.advance(10)
    hooks.run(second.ref)
    assert hooks.cooldowns.find("acme", endpoint.id) is None


@pytest.mark.parametrize("status", [500, 404, 200])
def test_after_any_other_answer_they_do_not(hooks: WebhookWorld, status: int) -> None:
    hooks.endpoint()
    hooks.receiver.answers = [answer(status)]
    for job in [delivery_of(hooks), delivery_of(hooks)]:
        hooks.run(job.ref)
    assert len(hooks.receiver.requests) == 2


def test_one_delivery_at_a_time_tries_whether_the_target_is_back(hooks: WebhookWorld) -> None:
    hooks.endpoint()
    first, second, third = (delivery_of(hooks) for _ in range(3))
    hooks.receiver.answers = [SILENT, answer(200)]
    hooks.run(first.ref)
    hooks.clock.advance(10)
    hooks.receiver.on_request = lambda: void(hooks.run(third.ref))
    hooks.run(second.ref)
    waiting = hooks.job(third.ref)
    assert (waiting.status, len(hooks.receiver.requests)) == (JobStatus.PENDING, 2)
    hooks.receiver.on_request = lambda: None
    hooks.settle()
    assert {job.status for job in hooks.deliveries()} == {JobStatus.COMPLETED}


def test_a_delivery_that_another_one_forestalls_waits_on(hooks: WebhookWorld) -> None:
    """Both deliveries see the cooldown end, but only one gets the permit."""
    endpoint, _ = hooks.endpoint()
    job = delivery_of(hooks)
    ended = Cooldown(failures=1, until=hooks.clock())

    class Forestalled(FakeCooldowns):
        def find(self, tenant: str, target: str) -> Cooldown | None:
            seen = super().find(tenant, target)
            self.put(tenant, target, replace(ended, until=ended.until + timedelta(seconds=25)))
            return seen

    forestalled = Forestalled()
    forestalled.put("acme", endpoint.id, ended)
    hooks.cooldowns = forestalled
    waiting = hooks.run(job.ref)
    assert (waiting.status, hooks.receiver.requests) == (JobStatus.PENDING, [])


def test_a_target_that_stays_silent_is_asked_ever_more_rarely(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.receiver.answers = [SILENT]
    jobs = [delivery_of(hooks) for _ in range(8)]
    waits = []
    for job in jobs:
        hooks.run(job.ref)
        cooldown = hooks.cooldowns.find("acme", endpoint.id)
        assert cooldown is not None
        waits.append((cooldown.until - hooks.clock()).total_seconds())
        hooks.clock.now = cooldown.until
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]


def test_a_targets_own_retry_after_is_kept_up_to_an_hour(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    for retry_after, wait in (("90", 90), ("86400", 3600)):
        hooks.cooldowns.end("acme", endpoint.id)
        hooks.receiver.answers = [answer(429, retry_after=retry_after)]
        hooks.run(delivery_of(hooks).ref)
        cooldown = hooks.cooldowns.find("acme", endpoint.id)
        assert cooldown == Cooldown(failures=1, until=hooks.clock() + timedelta(seconds=wait))


# ---------------------------------------------------------------- Slow targets


def slow(hooks: WebhookWorld, seconds: float = 14) -> None:
    """Make the receiver take `seconds` for each response."""
    hooks.receiver.on_request = lambda: hooks.clock.advance(seconds)


@pytest.mark.parametrize("status", [200, 204, 302, 404, 500])
@pytest.mark.parametrize(("seconds", "waits"), [(2.9, False), (3, True), (14, True)])
def test_after_a_slow_answer_of_any_kind_other_deliveries_wait(
    hooks: WebhookWorld, status: int, seconds: float, waits: bool
) -> None:
    hooks.endpoint()
    first, second = (delivery_of(hooks) for _ in range(2))
    hooks.receiver.answers = [answer(status)]
    slow(hooks, seconds)
    assert hooks.run(first.ref).attempts == (0 if status in {200, 204} else 1)
    waiting = hooks.run(second.ref)
    assert (len(hooks.receiver.requests) == 1) == waits
    if waits:
        assert (waiting.status, waiting.attempts) == (JobStatus.PENDING, 0)
        assert waiting.due_at == hooks.clock() + timedelta(seconds=10)


def test_a_slow_target_is_asked_by_one_delivery_at_a_time(hooks: WebhookWorld) -> None:
    """The lane runs eight deliveries at once; a backlog of one target leaves seven to others."""
    hooks.endpoint()
    jobs = [delivery_of(hooks) for _ in range(9)]
    slow(hooks)
    hooks.run(jobs[0].ref)
    hooks.clock.advance(10)
    places: list[JobStatus] = []

    def meanwhile() -> None:
        hooks.receiver.on_request = lambda: None
        hooks.clock.advance(7)
        places.extend(hooks.run(job.ref).status for job in jobs[2:])
        hooks.clock.advance(7)

    hooks.receiver.on_request = meanwhile
    hooks.run(jobs[1].ref)
    assert places == [JobStatus.PENDING] * 7
    assert len(hooks.receiver.requests) == 2


def test_a_target_that_stays_slow_is_asked_more_rarely_but_for_ever(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    slow(hooks)
    waits = []
    for job in [delivery_of(hooks) for _ in range(7)]:
        assert hooks.run(job.ref).status is JobStatus.COMPLETED
        cooldown = hooks.cooldowns.find("acme", endpoint.id)
        assert cooldown is not None
        waits.append((cooldown.until - hooks.clock()).total_seconds())
        hooks.clock.now = cooldown.until
    assert waits == [10, 20, 40, 60, 60, 60, 60]


@pytest.mark.heavy
def test_a_slow_targets_backlog_is_delivered_whole_in_few_checks(hooks: WebhookWorld) -> None:
    """If every delivery were retried whenever one may be sent, there would be 820 checks."""
    hooks.endpoint()
    jobs = [delivery_of(hooks) for _ in range(40)]
    began = hooks.clock()
    hooks.random = Random(3).random
    slow(hooks)
    hooks.settle(passes=450)
    assert len(hooks.receiver.requests) == len(jobs)
    assert {job.status for job in hooks.deliveries()} == {JobStatus.COMPLETED}
    assert {job.attempts for job in hooks.deliveries()} == {0}
    assert 39 * 60 <= (hooks.clock() - began).total_seconds() <= 40 * 120


def test_a_quick_answer_ends_the_rest_of_a_slow_target(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    jobs = [delivery_of(hooks) for _ in range(8)]
    slow(hooks)
    hooks.run(jobs[0].ref)
    hooks.clock.advance(10)
    slow(hooks, 0.1)
    hooks.run(jobs[1].ref)
    assert hooks.cooldowns.find("acme", endpoint.id) is None
    for job in jobs[2:]:
        assert hooks.run(job.ref).status is JobStatus.COMPLETED


def test_silence_counts_on_from_slow_answers(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    slow(hooks)
    hooks.run(delivery_of(hooks).ref)
    hooks.clock.advance(10)
    hooks.receiver.answers = [SILENT]
    hooks.run(delivery_of(hooks).ref)
    cooldown = hooks.cooldowns.find("acme", endpoint.id)
    assert cooldown == Cooldown(failures=2, until=hooks.clock() + timedelta(seconds=20))


def test_a_slow_target_delays_no_other(hooks: WebhookWorld) -> None:
    sluggish, _ = hooks.endpoint(url="https://slow.example/")
    other, _ = hooks.endpoint(url="https://quick.example/")
    for _ in range(2):
        hooks.finish()
    slow(hooks)
    for job in hooks.deliveries():
        if job.domain == "slow.example":
            hooks.run(job.ref)
    slow(hooks, 0.1)
    for job in hooks.deliveries():
        if job.domain == "quick.example":
            hooks.run(job.ref)
    quick = {line.status for line in hooks.lines(other.id)}
    assert quick == {DeliveryStatus.DELIVERED}
    delayed = {line.status for line in hooks.lines(sluggish.id)}
    assert delayed == {DeliveryStatus.DELIVERED, DeliveryStatus.PENDING}


# ---------------------------------------------------------------- Targets in any cooldown


def test_targets_do_not_wait_for_each_other(hooks: WebhookWorld) -> None:
    dead, _ = hooks.endpoint(url="https://dead.example/")
    alive, _ = hooks.endpoint(url="https://alive.example/")
    hooks.receiver.answers = [SILENT]
    hooks.finish()
    for job in hooks.deliveries():
        if job.domain == "dead.example":
            hooks.run(job.ref)
    hooks.receiver.answers = [answer(200)]
    for job in hooks.deliveries():
        hooks.run(job.ref)
    assert [line.status for line in hooks.lines(alive.id)] == [DeliveryStatus.DELIVERED]
    assert [line.status for line in hooks.lines(dead.id)] == [DeliveryStatus.PENDING]


def test_a_delivery_waits_a_day_for_its_target_and_no_longer(hooks: WebhookWorld) -> None:
    endpoint, _ = hooks.endpoint()
    job = delivery_of(hooks)
    cooldown = Cooldown(failures=9, until=hooks.clock() + timedelta(days=3))
    hooks.cooldowns.put("acme", endpoint.id, cooldown)
    hooks.run(job.ref)
    hooks.clock.now = cooldown.until
    hooks.settle()
    ended = hooks.job(job.ref)
    assert (ended.status, hooks.receiver.requests) == (JobStatus.FAILED, [])
    assert ended.last_error is not None
    assert ended.last_error.message == "receiver.example was unreachable or too slow for too long"


def test_a_delivery_stays_delivered_when_its_cooldown_can_not_be_ended(
    hooks: WebhookWorld,
) -> None:
    endpoint, _ = hooks.endpoint()
    hooks.cooldowns.put("acme", endpoint.id, Cooldown(failures=1, until=hooks.clock()))
    hooks.receiver.on_request = lambda: setattr(hooks.cooldowns, "available", False)
    job = delivery_of(hooks)
    assert hooks.run(job.ref).status is JobStatus.COMPLETED
