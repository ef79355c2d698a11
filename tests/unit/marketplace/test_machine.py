"""Executions of publish_batch: the jobs that they run, skip and wait for, and lost executions."""

import json
from datetime import timedelta
from typing import Any

import pytest
import yaml

from spinneret.jobs import limits as jobs_limits
from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.models import JobRef, JobStatus, Transition
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.marketplace import limits
from tests.architecture.conftest import ROOT
from tests.markets.world import MarketWorld

pytestmark = pytest.mark.heavy  # whole jobs with moto; the quick loop runs eBay's tests

DEFINITION = yaml.safe_load((ROOT / "statemachines" / "publish_batch.asl.yaml").read_text())
VISIT = DEFINITION["States"]["Jobs"]["ItemProcessor"]["States"]


def _children(world: MarketWorld, batch: JobRef) -> list[JobRef]:
    return list(world.store.children(batch, list(JobStatus), None, 100).items)


def _batch(world: MarketWorld, jobs: int, marketplace: str = "ebay") -> JobRef:
    ids = [world.product(f"Coat {number}").id for number in range(jobs)]
    return world.submit_batch("publish", marketplace, ids)


def test_the_definition_keeps_the_bounds_of_the_code() -> None:
    states = {**DEFINITION["States"], **VISIT}
    tasks = {name: each for name, each in states.items() if each["Type"] == "Task"}
    assert set(tasks) == {"Take", "Step", "Callback"}
    assert all(each["Retry"] and each["Catch"] for each in tasks.values())
    assert states["Jobs"]["MaxConcurrency"] == limits.PUBLISHED_AT_ONCE
    callback = tasks["Callback"]
    assert callback["TimeoutSeconds"] == limits.PLUGIN_TASK_SECONDS
    assert callback["HeartbeatSeconds"] < callback["TimeoutSeconds"]


def test_a_single_job_takes_nine_transitions(world: MarketWorld) -> None:
    job = world.done("publish", "ebay", world.product())
    assert job.status == "completed"
    assert sum(world.machine.entered.values()) == 9
    assert world.machine.entered["Step"] == 1


def test_states_hold_ids_and_counters_only(world: MarketWorld) -> None:
    world.finish(_batch(world, 2))
    names = set[str]()
    for state in world.machine.states:
        names |= set(state)
    assert names <= {
        *("tenant", "job_id", "turn", "steps", "action", "jobs", "until", "after", "visits"),
        *("fence", "owner", "number", "key", "trace"),
    }


def test_a_message_that_comes_twice_starts_one_execution(world: MarketWorld) -> None:
    ref = world.submit("publish", "ebay", world.product())
    world.dispatch(ref)
    world.dispatch(ref)
    assert len(world.executions.started) == 1
    [state] = world.executions.started.values()
    world.machine.run(state)
    world.machine.run(state)  # an execution that runs twice does nothing twice
    assert world.job(ref).status == "completed"
    assert len(world.ebay.listings) == 1
    assert world.ebay.calls["_publish"] == 1


def test_a_step_of_a_job_that_has_ended_leaves_it(world: MarketWorld) -> None:
    ref = world.submit("publish", "ebay", world.product())
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": 0}
    for _ in range(2):
        answer = world.job_step().step(state, lambda: world.remaining)
        assert answer["action"] == "left"
    assert world.ebay.calls["_publish"] == 1


# covers B-04
@pytest.mark.parametrize("marketplace", ["ebay", "vinted"])
@pytest.mark.parametrize("after", [1, 3, 4, 5, 6, 7, 9, 12, 16])
def test_a_batch_whose_execution_is_lost_at_any_state_is_finished_by_another(
    after: int, marketplace: str, world: MarketWorld
) -> None:
    batch = _batch(world, 2, marketplace)
    world.machine.lost_after = after
    world.deliver()
    world.machine.lost_after = None
    assert world.finish(batch).status == "completed"
    made = world.ebay.listings if marketplace == "ebay" else world.plugin.items
    assert len(made) == 2


def test_a_single_job_whose_execution_is_lost_gets_another_message(world: MarketWorld) -> None:
    ref = world.submit("publish", "ebay", world.product())
    world.machine.lost_after = 2
    world.deliver()
    world.machine.lost_after = None
    assert world.job(ref).status == "pending"
    assert world.finish(ref).status == "completed"
    assert len(world.executions.started) == 2
    assert len(world.ebay.listings) == 1


def test_a_batch_goes_on_in_another_execution_before_its_history_is_full(
    world: MarketWorld,
) -> None:
    world.segment_steps, world.round_jobs = 1, 2
    batch = _batch(world, 3)
    assert world.finish(batch).status == "completed"
    assert len(world.executions.started) == 2
    assert len(world.ebay.listings) == 3


def test_jobs_that_are_due_again_let_those_behind_them_on(world: MarketWorld) -> None:
    world.round_jobs = 2
    batch = _batch(world, 3, "vinted")
    world.dispatch(batch)
    state: Any = next(iter(world.executions.started.values()))
    first = world.next_jobs().take(state, lambda: world.remaining)
    assert len(first["jobs"]) == 2
    [last] = {ref.job_id for ref in _children(world, batch)} - set(first["jobs"])
    second = world.next_jobs().take({**first, "visits": []}, lambda: world.remaining)
    assert second["jobs"][0] == last


def test_jobs_of_a_batch_get_no_message_while_its_execution_lives(world: MarketWorld) -> None:
    batch = _batch(world, 1)
    world.dispatch(batch)
    [child] = _children(world, batch)
    world.queue.take()
    world.clock.advance(2 * jobs_limits.RESEND_GRACE_SECONDS)
    world.sweep()
    assert [sent.ref for sent in world.queue.take()] == []
    started = len(world.executions.started)
    world.dispatch(child)  # a message that is delivered nevertheless
    assert len(world.executions.started) == started
    world.clock.advance(limits.PUBLISH_LED_SECONDS)  # a lost execution's lease has ended
    world.sweep()
    assert {sent.ref for sent in world.queue.take()} == {batch, child}


def test_a_job_whose_step_fails_stops_no_other(
    world: MarketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = _batch(world, 2)
    world.dispatch(batch)
    first, second = _children(world, batch)
    job_step = world.job_step

    def broken() -> Any:
        made = job_step()
        step = made.step

        def fails(state: Any, remaining: Any) -> Any:
            if state["job_id"] == first.job_id:
                raise DependencyUnavailable("dynamodb")
            return step(state, remaining)

        made.step = fails
        return made

    monkeypatch.setattr(world, "job_step", broken)
    world.machine.lost_after = 30
    world.execute()
    assert world.job(second).status == "completed"
    monkeypatch.undo()
    world.machine.lost_after = None
    assert world.finish(batch).status == "completed"
    assert len(world.ebay.listings) == 2


# Slots: limits of concurrent jobs


def test_no_more_jobs_of_a_seller_are_at_work_than_may_be(world: MarketWorld) -> None:
    world.at_once = 1
    first = world.submit("publish", "vinted", world.product())
    second = world.submit("publish", "vinted", world.product("Other"))
    world.plugin.mute = True
    assert world.once(first).waiting_for == "the plug-in's answer"
    refused = world.once(second)
    assert refused.waiting_for == "other jobs of the seller there"
    assert (refused.status, refused.attempts) == ("pending", 0)
    assert refused.due_at == world.clock() + timedelta(seconds=limits.PUBLISH_BUSY_SECONDS)
    elsewhere = world.submit("publish", "ebay", world.product("Third"))
    assert world.once(elsewhere).status == "completed"  # each marketplace has its own slots
    world.clock.advance(2 * limits.PLUGIN_TASK_SECONDS)  # the slots of a lost process expire
    assert world.once(second).waiting_for == "the plug-in's answer"


def test_a_job_that_waits_for_nobodys_plug_in_holds_no_slot(world: MarketWorld) -> None:
    world.at_once, world.plugin.away = 1, True
    first = world.submit("publish", "vinted", world.product())
    second = world.submit("publish", "vinted", world.product("Other"))
    for ref in (first, second):
        assert world.once(ref).waiting_for == "a plug-in for vinted"


# Callbacks


# covers B-07
def test_an_answer_lets_the_execution_go_on_at_once(world: MarketWorld) -> None:
    world.plugin.mute = True

    def answered() -> None:
        for key in list(world.plugin.done):
            world.plugin.repeat(key)

    world.machine.meanwhile = answered
    before = world.clock()
    job = world.done("publish", "vinted", world.product())
    assert job.status == "completed"
    assert world.clock() - before < timedelta(seconds=limits.PLUGIN_TASK_SECONDS)
    assert len(world.callbacks.completed) == world.machine.entered["Callback"]
    assert len(world.plugin.items) == 1


def test_a_token_goes_to_nobody(world: MarketWorld) -> None:
    world.done("publish", "vinted", world.product())
    assert world.callbacks.completed
    sent = json.dumps(world.plugin.tasks)
    assert not any(token in sent for token in world.callbacks.completed)
    assert not any("token-" in json.dumps(state) for state in world.machine.states)


def test_a_plug_in_that_has_a_task_keeps_its_state_waiting(world: MarketWorld) -> None:
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", world.product())
    world.once(ref)
    [key] = world.plugin.done
    fence = world.job(ref).fence
    token = world.callbacks.new()
    asked = key.rpartition(".")[0]
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "key": asked, "fence": fence}
    world.wait_for_callback({**state, "token": token})
    world.inbox.accepted(world.plugin.connection, {"key": key, "browser": "laptop"})
    assert (world.callbacks.beats, world.callbacks.waiting) == (1, {token})
    world.plugin.repeat(key)
    world.plugin.repeat(key)  # nothing waits for a second answer
    assert world.callbacks.completed == [token]
    late = world.callbacks.new()
    world.wait_for_callback({**state, "token": late})  # the answer arrived earlier
    assert world.callbacks.completed == [token, late]


def test_a_state_whose_job_has_moved_on_waits_for_nothing(world: MarketWorld) -> None:
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", world.product())
    fence = world.once(ref).fence
    [key] = world.plugin.done
    world.publishing.move(world.tenant, ref.job_id, Transition.CANCEL)
    token = world.callbacks.new()
    world.wait_for_callback(
        {
            "tenant": ref.tenant,
            "job_id": ref.job_id,
            "key": key,
            "fence": fence,
            "token": token,
        }
    )
    assert world.callbacks.completed == [token]


# covers B-07
def test_a_plug_in_that_comes_back_gets_what_waits_at_once(world: MarketWorld) -> None:
    world.plugin.away = True
    ref = world.submit("publish", "vinted", world.product())

    def back() -> None:
        world.plugin.away = False
        world.plugin.open()

    world.machine.meanwhile = back
    before = world.clock()
    assert world.finish(ref).status == "completed"
    assert world.clock() - before < timedelta(seconds=DEFINITION_HEARTBEAT)
    assert len(world.plugin.items) == 1


DEFINITION_HEARTBEAT = VISIT["Callback"]["HeartbeatSeconds"]


def test_callbacks_that_step_functions_does_not_take_only_delay(world: MarketWorld) -> None:
    def refuse(_: str) -> bool:
        raise DependencyUnavailable("stepfunctions")

    world.callbacks.complete = world.callbacks.heartbeat = refuse  # type: ignore[method-assign]  # an outage
    assert world.done("publish", "vinted", world.product()).status == "completed"
    assert len(world.plugin.items) == 1


def test_a_plug_in_that_never_answers_what_it_must_not_do_twice_leaves_it_to_the_seller(
    world: MarketWorld,
) -> None:
    original = world.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        world.plugin.lost = "/completion" in text
        return original(connection_id, text)

    world.plugin.post = lost_at_completion  # type: ignore[method-assign]  # a lost browser
    job = world.done("publish", "vinted", world.product())
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == ("failed", "NEEDS_INPUT")
    asked = [task for task in world.plugin.tasks if "/completion" in task["path"]]
    assert len({task["key"] for task in asked}) == 1


# Actions of the tenant while a job runs


def test_a_job_that_is_cancelled_while_it_waits_ends_its_execution(world: MarketWorld) -> None:
    world.plugin.deaf = True
    ref = world.submit("publish", "vinted", world.product())

    def cancel() -> None:
        if world.job(ref).status == "pending":
            world.publishing.move(world.tenant, ref.job_id, Transition.CANCEL)

    world.machine.meanwhile = cancel
    world.deliver()
    assert world.job(ref).status == "cancelled"
    assert len(world.plugin.tasks) == 1
    assert world.plugin.items == {}


def test_a_job_that_is_paused_while_it_waits_goes_on_when_it_is_resumed(world: MarketWorld) -> None:
    world.plugin.mute = True
    ref = world.submit("publish", "vinted", world.product())

    def pause() -> None:
        world.publishing.move(world.tenant, ref.job_id, Transition.PAUSE)
        world.machine.meanwhile = lambda: None

    world.machine.meanwhile = pause
    world.deliver()
    assert world.job(ref).status == "paused"
    world.plugin.mute = False
    world.publishing.move(world.tenant, ref.job_id, Transition.RESUME)
    assert world.finish(ref).status == "completed"
    assert len(world.plugin.items) == 1


def test_a_paused_batch_rests_and_goes_on(world: MarketWorld) -> None:
    batch = _batch(world, 2)
    world.dispatch(batch)
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.PAUSE)
    world.execute()
    assert world.ebay.listings == {}
    world.clock.advance(limits.PUBLISH_LED_SECONDS + 2 * jobs_limits.RESEND_GRACE_SECONDS)
    world.sweep()
    world.deliver()
    assert {world.job(ref).status for ref in _children(world, batch)} == {"paused"}
    world.clock.advance(limits.MARKETPLACE_PENDING_SECONDS)  # paused jobs don't expire
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.RESUME)
    assert world.finish(batch).status == "completed"
    assert len(world.ebay.listings) == 2


def test_a_batch_of_which_a_job_rests_awaits_it_without_an_execution(world: MarketWorld) -> None:
    batch = _batch(world, 2)
    world.dispatch(batch)
    first, second = _children(world, batch)
    world.publishing.move(world.tenant, first.job_id, Transition.PAUSE)
    world.queue.take()
    world.execute()
    assert world.job(second).status == "completed"
    waiting = world.job(batch)
    assert (waiting.status, waiting.locked_by) == ("running", None)
    world.publishing.move(world.tenant, first.job_id, Transition.RESUME)
    world.deliver()
    assert world.job(batch).status == "completed"


def test_a_cancelled_batch_ends_its_execution_at_the_next_step(world: MarketWorld) -> None:
    batch = _batch(world, 2)
    world.dispatch(batch)
    world.publishing.move_batch(world.tenant, batch.job_id, Transition.CANCEL)
    world.execute()
    assert world.machine.entered == {"Take": 1, "Choose": 1, "Stop": 1}
    assert world.ebay.listings == {}


def test_one_job_that_is_tried_again_runs_alone_and_ends_its_batch_again(
    world: MarketWorld,
) -> None:
    world.ebay.refused_titles["Coat 0"] = 25005
    batch = _batch(world, 2)
    assert world.finish(batch).status == "partially_failed"
    world.ebay.refused_titles.clear()
    [failed] = world.store.children(batch, [JobStatus.FAILED], None, 10).items
    world.clock.advance(1)
    world.publishing.move(world.tenant, failed.job_id, Transition.RETRY)
    world.deliver()
    assert world.job(batch).status == "completed"
    assert len(world.ebay.listings) == 2


def test_a_job_that_waited_too_long_is_left_to_the_sweeper(world: MarketWorld) -> None:
    ref = world.submit("publish", "ebay", world.product())
    world.clock.advance(limits.MARKETPLACE_PENDING_SECONDS + 1)
    world.deliver()
    assert world.machine.entered["Step"] == 0
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": 0}
    assert world.job_step().step(state, lambda: world.remaining)["action"] == "left"
    world.sweep()
    assert world.job(ref).status == "expired"


def test_a_round_of_a_lost_claim_stops(world: MarketWorld) -> None:
    batch = _batch(world, 1)
    world.dispatch(batch)
    state: Any = next(iter(world.executions.started.values()))
    stale = {**state, "fence": state["fence"] - 1}
    answer = world.next_jobs().take(stale, lambda: world.remaining)
    assert answer["action"] == "stop"
    assert ExecutionClaim.of(answer["turn"]).number == state["number"] + 1
