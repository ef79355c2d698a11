"""An audit's session: it locks the host after a rest, as long as the audit runs (F-04, F-05)."""

import logging
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from spinneret.audits import limits
from spinneret.audits.kinds import AUDIT
from spinneret.audits.models import RunRef
from spinneret.audits.sessions import has_left
from spinneret.audits.worker_wiring import SESSIONS, session_options
from spinneret.aws.stage import Stage
from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.web.politeness.models import SessionOptions
from tests import factories
from tests.fakes.auditing import AuditWorld
from tests.fakes.crashes import Crash
from tests.unit.audits.site import HOST
from tests.unit.audits.test_running import good_site


def slow_world(**settings: Any) -> AuditWorld:
    """Return a world in which a slice covers only a few pages, so that audits can overlap."""
    world = AuditWorld(**settings)
    good_site(world)
    world.slice_seconds = 70.0
    world.request_seconds = 4.0
    return world


def events(caplog: pytest.LogCaptureFixture, *prefixes: str) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.getMessage().startswith(prefixes)]


def page_moments(world: AuditWorld) -> list[datetime]:
    return [at for at, _, url in world.asked if url.startswith(HOST)]


# covers F-04
def test_a_second_audit_of_the_host_ends_with_domain_lock_timeout(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = slow_world()
    first = world.submit(f"{HOST}/")
    world.run(first)
    asked = len(world.asked)
    with caplog.at_level(logging.INFO):
        second = world.submit(f"{HOST}/", tenant="other")
        for _ in range(4):
            world.clock.now = max(world.clock.now, world.job(second).due_at)
            world.run(second)
    job = world.job(second)
    assert job.status is JobStatus.FAILED
    assert job.last_error is not None
    assert (job.last_error.message, job.last_error.code) == (
        "Domain lock timeout",
        "DOMAIN_LOCK_TIMEOUT",
    )
    assert job.last_error.details == {"domain": "shop.example", "held_by": first.job_id}
    assert events(caplog, "lock.") == [*["lock.acquire.retry"] * 3, "lock.acquire.timeout"]
    retries = [each for each in caplog.records if each.getMessage() == "lock.acquire.retry"]
    assert [each.wait_ms for each in retries] == [1250, 2250, 4250]  # type: ignore[attr-defined]  # extra
    assert {each.domain for each in retries} == {"shop.example"}  # type: ignore[attr-defined]  # extra
    assert {each.session_id for each in retries} == {f"other/{job.id}/1"}  # type: ignore[attr-defined]  # extra
    assert len(world.asked) == asked
    assert world.settle(first).status is JobStatus.COMPLETED


# covers F-04
def test_a_second_audit_of_the_same_tenant_is_held_until_the_first_has_ended(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = slow_world()
    first = world.submit(f"{HOST}/")
    world.run(first)
    others = [world.submit(f"{HOST}/{name}", recipe="hello") for name in ("oak", "pine")]
    with caplog.at_level(logging.INFO):
        for other in others:
            for _ in range(6):
                world.clock.now = max(world.clock.now, world.job(other).due_at)
                held = world.run(other)
                assert held.status is JobStatus.PENDING
                assert held.waiting_for == f"shop.example: audit {first.job_id}"
    assert events(caplog, "lock.") == []
    view = world.service().get(first.tenant, others[0].job_id)
    assert (view.status, view.attempts) == (JobStatus.PENDING, 0)
    assert world.settle(first, *others).status is JobStatus.COMPLETED
    assert [world.job(other).status for other in others] == [JobStatus.COMPLETED] * 2


# covers F-05
def test_a_second_audit_begins_once_the_first_has_ended_and_the_host_has_rested(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = AuditWorld()
    good_site(world)
    first, second = (world.submit(f"{HOST}/", tenant=name, recipe="hello") for name in "ab")
    world.run(first)
    last = page_moments(world)[-1]
    with caplog.at_level(logging.INFO):
        assert world.settle(second).status is JobStatus.COMPLETED
    began = page_moments(world)[page_moments(world).index(last) + 1]
    assert (began - last).total_seconds() >= 2
    assert events(caplog, "throttle.") == ["throttle.wait"]
    assert world.job(second).attempts == 0


@pytest.mark.parametrize(
    ("settings", "mode", "reason"),
    [
        ({}, "debug", "debug_mode"),
        ({"disable_throttle": True}, None, "testing"),
        ({"disable_locks": True}, None, "testing"),
    ],
)
def test_the_rest_is_skipped_where_it_is_asked_for(
    settings: dict[str, Any], mode: str | None, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    world = AuditWorld(**settings)
    good_site(world)
    world.settle(world.submit(f"{HOST}/", recipe="hello"))
    with caplog.at_level(logging.INFO):
        ref = world.submit(f"{HOST}/", recipe="hello", mode=mode)
        assert world.run(ref).status is JobStatus.COMPLETED
    skipped = [each for each in caplog.records if each.getMessage() == "throttle.skip"]
    assert [each.reason for each in skipped] == [reason]  # type: ignore[attr-defined]  # extra
    assert events(caplog, "lock.acquire") == (
        [] if "disable_locks" in settings else ["lock.acquire.success"]
    )


def test_without_locks_two_audits_run_beside_each_other() -> None:
    world = slow_world(disable_locks=True)
    refs = [world.submit(f"{HOST}/", tenant=name) for name in "ab"]
    world.settle(*refs)
    assert [world.job(ref).status for ref in refs] == [JobStatus.COMPLETED] * 2


def test_slices_of_one_audit_keep_the_lock_between_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = slow_world()
    with caplog.at_level(logging.INFO):
        job = world.settle(world.submit(f"{HOST}/"))
    assert job.status is JobStatus.COMPLETED
    assert events(caplog, "lock.release") == ["lock.release.success"]
    assert len(events(caplog, "lock.acquire.success")) == job.fence


def test_a_worker_that_died_frees_nothing_that_another_one_holds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = slow_world()
    world.slice_seconds = 300.0
    ref = world.submit(f"{HOST}/")
    pages = iter(range(3))

    class Dying:
        def __getattr__(self, name: str) -> Any:
            if name == "keep_page" and next(pages, None) is None:
                raise Crash(name)
            return getattr(world.audits, name)

    with pytest.raises(Crash):
        world.run(ref, lambda name, port: Dying() if name == "audits" else port)
    world.clock.advance(limits.PAGE_LEASE_SECONDS + 60)
    with caplog.at_level(logging.INFO):
        job = world.settle(ref)
    assert (job.status, job.attempts) == (JobStatus.COMPLETED, 1)
    assert events(caplog, "lock.release") == ["lock.release.success"]


def test_an_audit_that_outstayed_its_lock_leaves_the_host_and_comes_again() -> None:
    world = slow_world(lock_ttl_seconds=30)
    world.slice_seconds = 300.0
    world.request_seconds = 12.0
    ref = world.submit(f"{HOST}/")
    intruder = "other/job_intruder/1"
    taken = False

    class Stalling:
        """Session store that delays one renewal until another session has locked the host."""

        def __getattr__(self, name: str) -> Any:
            nonlocal taken
            if name == "update" and not taken and len(world.asked) == 6:
                taken = True
                world.clock.advance(40)
                opened = world.session("shop.example", intruder)
                world.clock.advance(20)
                world.close(opened)
            return getattr(world.sessions, name)

    world.run(ref, lambda name, port: Stalling() if name == "sessions" else port)
    assert taken
    job = world.job(ref)
    assert job.last_error is not None
    assert (job.last_error.code, job.attempts) == ("DOMAIN_LOCK_LOST", 1)
    assert world.settle(ref).status is JobStatus.COMPLETED


def test_two_tenants_never_meet_at_the_host_and_are_two_seconds_apart() -> None:
    world = slow_world()
    refs: list[JobRef] = [world.submit(f"{HOST}/", tenant=name) for name in "ab"]
    spans: dict[str, list[datetime]] = {}
    for _ in range(60):
        sent = sorted(world.queue.take(), key=lambda each: world.job(each.ref).due_at)
        if not sent:
            break
        for each in sent:
            world.clock.now = max(world.clock.now, world.job(each.ref).due_at)
            before = len(world.asked)
            world.run(each.ref)
            moments = [at for at, _, _ in world.asked[before:]]
            spans.setdefault(each.ref.tenant, []).extend(moments)
    ended = {ref.tenant: world.job(ref) for ref in refs}
    assert ended["a"].status is JobStatus.COMPLETED
    failed = ended["b"].last_error
    assert failed is not None
    assert failed.message == "Domain lock timeout"
    assert "b" not in spans or not spans["b"]


@pytest.mark.parametrize("move", [Transition.CANCEL, Transition.PAUSE])
def test_an_audit_that_is_stopped_while_it_waits_keeps_the_host_from_nobody(
    move: Transition,
) -> None:
    world = slow_world()
    ref = world.submit(f"{HOST}/")
    assert world.run(ref).status is JobStatus.PENDING  # between two slices; the host is locked
    world.control.move(ref, move)
    other = world.submit(f"{HOST}/", tenant="other", recipe="hello")
    began = world.clock()
    assert world.settle(other).status is JobStatus.COMPLETED
    assert (world.clock() - began).total_seconds() < 30


@pytest.mark.parametrize("status", JobStatus)
def test_a_session_is_over_with_its_run(status: JobStatus) -> None:
    job = factories.job(id="job_1", tenant="acme", kind=AUDIT, status=status, run=2)
    goes_on = status in (JobStatus.PENDING, JobStatus.RUNNING)
    ref = RunRef(tenant="acme", audit_id="job_1", run=2)
    assert has_left({job.ref: job}.get)(ref.session_id) is not goes_on
    assert has_left({job.ref: job}.get)(replace(ref, run=1).session_id)
    assert has_left(lambda _: None)(ref.session_id)


def test_an_audit_that_is_resumed_goes_on_behind_the_one_that_came_meanwhile() -> None:
    world = slow_world()
    ref = world.submit(f"{HOST}/")
    world.run(ref)
    world.control.move(ref, Transition.PAUSE)
    other = world.submit(f"{HOST}/", tenant="other")
    world.clock.advance(3)
    assert world.run(other).status is JobStatus.PENDING  # it has locked the host now
    world.control.move(ref, Transition.RESUME)
    assert world.run(ref).waiting_for == "shop.example: lock"
    assert world.settle(other, ref).status is JobStatus.COMPLETED


def test_a_worker_of_a_stopped_audit_keeps_the_host_as_long_as_it_is_at_it() -> None:
    world = slow_world()
    world.slice_seconds = 300.0
    ref = world.submit(f"{HOST}/")
    other = world.submit(f"{HOST}/", tenant="other")
    waits: list[str | None] = []

    class Stopping:
        """Store that, at the first page, cancels the audit and runs another one."""

        def __getattr__(self, name: str) -> Any:
            if name == "keep_page" and not waits:
                world.control.move(ref, Transition.CANCEL)
                waits.append(world.run(other).waiting_for)
            return getattr(world.audits, name)

    world.run(ref, lambda name, port: Stopping() if name == "audits" else port)
    assert waits == ["shop.example: lock"]
    assert world.settle(other).status is JobStatus.COMPLETED


def test_stopping_frees_no_host_that_another_audit_holds() -> None:
    world = slow_world()
    first, second = (world.submit(f"{HOST}/", tenant=name) for name in "ab")
    world.run(first)
    world.run(second)  # refused by the lock; it will retry
    world.service().cancel("b", second.job_id)
    third = world.submit(f"{HOST}/", tenant="c")
    assert world.run(third).waiting_for == "shop.example: lock"


def test_a_stage_sets_lock_and_throttle_by_their_documented_names() -> None:
    assert session_options(Stage({}, SESSIONS)) == SessionOptions(
        lock_ttl_seconds=300,
        throttle_ttl_seconds=60,
        min_delay_ms=2000,
        disable_throttle=False,
        disable_locks=False,
    )
    env = {
        "DOMAIN_LOCK_TTL_SECONDS": "30",
        "DOMAIN_THROTTLE_TTL_SECONDS": "6",
        "DOMAIN_MIN_DELAY_MS": "200",
        "DISABLE_THROTTLE": "true",
        "DISABLE_LOCKS": "1",
    }
    assert session_options(Stage(env, SESSIONS)) == SessionOptions(
        lock_ttl_seconds=30,
        throttle_ttl_seconds=6,
        min_delay_ms=200,
        disable_throttle=True,
        disable_locks=True,
    )
