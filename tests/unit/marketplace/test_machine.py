"""Executions of publish_batch: what they take up, wait for and leave, and what their loss costs."""

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
from tests.markets.bench import Bench

pytestmark = pytest.mark.heavy  # whole jobs on moto: the quick loop has eBay's

DEFINITION = yaml.safe_load((ROOT / "statemachines" / "publish_batch.asl.yaml").read_text())
VISIT = DEFINITION["States"]["Jobs"]["ItemProcessor"]["States"]


def _children(bench: Bench, batch: JobRef) -> list[JobRef]:
    return list(bench.store.children(batch, list(JobStatus), None, 100).items)


def _batch(bench: Bench, jobs: int, marketplace: str = "ebay") -> JobRef:
    ids = [bench.product(f"Coat {number}").id for number in range(jobs)]
    return bench.submit_batch("publish", marketplace, ids)


def test_the_definition_keeps_the_bounds_of_the_code() -> None:
    states = {**DEFINITION["States"], **VISIT}
    tasks = {name: each for name, each in states.items() if each["Type"] == "Task"}
    assert set(tasks) == {"Take", "Step", "Callback"}
    assert all(each["Retry"] and each["Catch"] for each in tasks.values())
    assert states["Jobs"]["MaxConcurrency"] == limits.PUBLISHED_AT_ONCE
    callback = tasks["Callback"]
    assert callback["TimeoutSeconds"] == limits.PLUGIN_TASK_SECONDS
    assert callback["HeartbeatSeconds"] < callback["TimeoutSeconds"]


def test_a_single_job_takes_nine_transitions(bench: Bench) -> None:
    job = bench.done("publish", "ebay", bench.product())
    assert job.status == "completed"
    assert sum(bench.machine.entered.values()) == 9
    assert bench.machine.entered["Step"] == 1


def test_states_hold_ids_and_counters_only(bench: Bench) -> None:
    bench.finish(_batch(bench, 2))
    names = set[str]()
    for state in bench.machine.states:
        names |= set(state)
    assert names <= {
        *("tenant", "job_id", "turn", "steps", "action", "jobs", "until", "after", "visits"),
        *("fence", "owner", "number", "key", "trace"),
    }


def test_a_message_that_comes_twice_starts_one_execution(bench: Bench) -> None:
    ref = bench.submit("publish", "ebay", bench.product())
    bench.dispatch(ref)
    bench.dispatch(ref)
    assert len(bench.executions.started) == 1
    [state] = bench.executions.started.values()
    bench.machine.run(state)
    bench.machine.run(state)  # and one that runs twice does nothing twice
    assert bench.job(ref).status == "completed"
    assert len(bench.ebay.listings) == 1
    assert bench.ebay.calls["_publish"] == 1


def test_a_step_of_a_job_that_has_ended_leaves_it(bench: Bench) -> None:
    ref = bench.submit("publish", "ebay", bench.product())
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": 0}
    for _ in range(2):
        answer = bench.job_step().step(state, lambda: bench.remaining)
        assert answer["action"] == "left"
    assert bench.ebay.calls["_publish"] == 1


# covers B-04
@pytest.mark.parametrize("marketplace", ["ebay", "vinted"])
@pytest.mark.parametrize("after", [1, 3, 4, 5, 6, 7, 9, 12, 16])
def test_a_batch_whose_execution_is_lost_at_any_state_is_finished_by_another(
    after: int, marketplace: str, bench: Bench
) -> None:
    batch = _batch(bench, 2, marketplace)
    bench.machine.lost_after = after
    bench.deliver()
    bench.machine.lost_after = None
    assert bench.finish(batch).status == "completed"
    made = bench.ebay.listings if marketplace == "ebay" else bench.plugin.items
    assert len(made) == 2


def test_a_single_job_whose_execution_is_lost_gets_another_message(bench: Bench) -> None:
    ref = bench.submit("publish", "ebay", bench.product())
    bench.machine.lost_after = 2
    bench.deliver()
    bench.machine.lost_after = None
    assert bench.job(ref).status == "pending"
    assert bench.finish(ref).status == "completed"
    assert len(bench.executions.started) == 2
    assert len(bench.ebay.listings) == 1


def test_a_batch_goes_on_in_another_execution_before_its_history_is_full(bench: Bench) -> None:
    bench.segment_steps, bench.round_jobs = 1, 2
    batch = _batch(bench, 3)
    assert bench.finish(batch).status == "completed"
    assert len(bench.executions.started) == 2
    assert len(bench.ebay.listings) == 3


def test_jobs_that_are_due_again_let_those_behind_them_on(bench: Bench) -> None:
    bench.round_jobs = 2
    batch = _batch(bench, 3, "vinted")
    bench.dispatch(batch)
    state: Any = next(iter(bench.executions.started.values()))
    first = bench.next_jobs().take(state, lambda: bench.remaining)
    assert len(first["jobs"]) == 2
    [last] = {ref.job_id for ref in _children(bench, batch)} - set(first["jobs"])
    second = bench.next_jobs().take({**first, "visits": []}, lambda: bench.remaining)
    assert second["jobs"][0] == last


def test_jobs_of_a_batch_get_no_message_while_its_execution_lives(bench: Bench) -> None:
    batch = _batch(bench, 1)
    bench.dispatch(batch)
    [child] = _children(bench, batch)
    bench.queue.take()
    bench.clock.advance(2 * jobs_limits.RESEND_GRACE_SECONDS)
    bench.sweep()
    assert [sent.ref for sent in bench.queue.take()] == []
    started = len(bench.executions.started)
    bench.dispatch(child)  # one that comes all the same
    assert len(bench.executions.started) == started
    bench.clock.advance(limits.PUBLISH_LED_SECONDS)  # the execution was lost, and its lease ended
    bench.sweep()
    assert {sent.ref for sent in bench.queue.take()} == {batch, child}


def test_a_job_whose_step_fails_stops_no_other(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = _batch(bench, 2)
    bench.dispatch(batch)
    first, second = _children(bench, batch)
    job_step = bench.job_step

    def broken() -> Any:
        made = job_step()
        step = made.step

        def fails(state: Any, remaining: Any) -> Any:
            if state["job_id"] == first.job_id:
                raise DependencyUnavailable("dynamodb")
            return step(state, remaining)

        made.step = fails
        return made

    monkeypatch.setattr(bench, "job_step", broken)
    bench.machine.lost_after = 30
    bench.execute()
    assert bench.job(second).status == "completed"
    monkeypatch.undo()
    bench.machine.lost_after = None
    assert bench.finish(batch).status == "completed"
    assert len(bench.ebay.listings) == 2


# Slots


def test_no_more_jobs_of_a_seller_are_at_work_than_may_be(bench: Bench) -> None:
    bench.at_once = 1
    first = bench.submit("publish", "vinted", bench.product())
    second = bench.submit("publish", "vinted", bench.product("Other"))
    bench.plugin.mute = True
    assert bench.once(first).waiting_for == "the plug-in's answer"
    refused = bench.once(second)
    assert refused.waiting_for == "other jobs of the seller there"
    assert (refused.status, refused.attempts) == ("pending", 0)
    assert refused.due_at == bench.clock() + timedelta(seconds=limits.PUBLISH_BUSY_SECONDS)
    elsewhere = bench.submit("publish", "ebay", bench.product("Third"))
    assert bench.once(elsewhere).status == "completed"  # another marketplace has its own
    bench.clock.advance(2 * limits.PLUGIN_TASK_SECONDS)  # a process that was lost gives none back
    assert bench.once(second).waiting_for == "the plug-in's answer"


def test_a_job_that_waits_for_nobodys_plug_in_holds_no_slot(bench: Bench) -> None:
    bench.at_once, bench.plugin.away = 1, True
    first = bench.submit("publish", "vinted", bench.product())
    second = bench.submit("publish", "vinted", bench.product("Other"))
    for ref in (first, second):
        assert bench.once(ref).waiting_for == "a plug-in for vinted"


# Callbacks


# covers B-07
def test_an_answer_lets_the_execution_go_on_at_once(bench: Bench) -> None:
    bench.plugin.mute = True

    def answered() -> None:
        for key in list(bench.plugin.done):
            bench.plugin.repeat(key)

    bench.machine.meanwhile = answered
    before = bench.clock()
    job = bench.done("publish", "vinted", bench.product())
    assert job.status == "completed"
    assert bench.clock() - before < timedelta(seconds=limits.PLUGIN_TASK_SECONDS)
    assert len(bench.callbacks.completed) == bench.machine.entered["Callback"]
    assert len(bench.plugin.items) == 1


def test_a_token_goes_to_nobody(bench: Bench) -> None:
    bench.done("publish", "vinted", bench.product())
    assert bench.callbacks.completed
    sent = json.dumps(bench.plugin.tasks)
    assert not any(token in sent for token in bench.callbacks.completed)
    assert not any("token-" in json.dumps(state) for state in bench.machine.states)


def test_a_plug_in_that_has_a_task_keeps_its_state_waiting(bench: Bench) -> None:
    bench.plugin.mute = True
    ref = bench.submit("publish", "vinted", bench.product())
    bench.once(ref)
    [key] = bench.plugin.done
    fence = bench.job(ref).fence
    token = bench.callbacks.new()
    asked = key.rpartition(".")[0]
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "key": asked, "fence": fence}
    bench.wait_for_callback({**state, "token": token})
    bench.inbox.accepted(bench.plugin.connection, {"key": key, "browser": "laptop"})
    assert (bench.callbacks.beats, bench.callbacks.waiting) == (1, {token})
    bench.plugin.repeat(key)
    bench.plugin.repeat(key)  # a second answer finds nobody
    assert bench.callbacks.completed == [token]
    late = bench.callbacks.new()
    bench.wait_for_callback({**state, "token": late})  # its answer is there
    assert bench.callbacks.completed == [token, late]


def test_a_state_whose_job_has_moved_on_waits_for_nothing(bench: Bench) -> None:
    bench.plugin.mute = True
    ref = bench.submit("publish", "vinted", bench.product())
    fence = bench.once(ref).fence
    [key] = bench.plugin.done
    bench.publishing.move(bench.tenant, ref.job_id, Transition.CANCEL)
    token = bench.callbacks.new()
    bench.wait_for_callback(
        {
            "tenant": ref.tenant,
            "job_id": ref.job_id,
            "key": key,
            "fence": fence,
            "token": token,
        }
    )
    assert bench.callbacks.completed == [token]


# covers B-07
def test_a_plug_in_that_comes_back_gets_what_waits_at_once(bench: Bench) -> None:
    bench.plugin.away = True
    ref = bench.submit("publish", "vinted", bench.product())

    def back() -> None:
        bench.plugin.away = False
        bench.plugin.open()

    bench.machine.meanwhile = back
    before = bench.clock()
    assert bench.finish(ref).status == "completed"
    assert bench.clock() - before < timedelta(seconds=DEFINITION_HEARTBEAT)
    assert len(bench.plugin.items) == 1


DEFINITION_HEARTBEAT = VISIT["Callback"]["HeartbeatSeconds"]


def test_callbacks_that_step_functions_does_not_take_only_delay(bench: Bench) -> None:
    def refuse(_: str) -> bool:
        raise DependencyUnavailable("stepfunctions")

    bench.callbacks.complete = bench.callbacks.heartbeat = refuse  # type: ignore[method-assign]  # an outage
    assert bench.done("publish", "vinted", bench.product()).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_plug_in_that_never_answers_what_it_must_not_do_twice_leaves_it_to_the_seller(
    bench: Bench,
) -> None:
    original = bench.plugin.post

    def lost_at_completion(connection_id: str, text: str) -> bool:
        bench.plugin.lost = "/completion" in text
        return original(connection_id, text)

    bench.plugin.post = lost_at_completion  # type: ignore[method-assign]  # a lost browser
    job = bench.done("publish", "vinted", bench.product())
    assert job.last_error is not None
    assert (job.status, job.last_error.code) == ("failed", "NEEDS_INPUT")
    asked = [task for task in bench.plugin.tasks if "/completion" in task["path"]]
    assert len({task["key"] for task in asked}) == 1


# What a tenant does meanwhile


def test_a_job_that_is_cancelled_while_it_waits_ends_its_execution(bench: Bench) -> None:
    bench.plugin.deaf = True
    ref = bench.submit("publish", "vinted", bench.product())

    def cancel() -> None:
        if bench.job(ref).status == "pending":
            bench.publishing.move(bench.tenant, ref.job_id, Transition.CANCEL)

    bench.machine.meanwhile = cancel
    bench.deliver()
    assert bench.job(ref).status == "cancelled"
    assert len(bench.plugin.tasks) == 1
    assert bench.plugin.items == {}


def test_a_job_that_is_paused_while_it_waits_goes_on_when_it_is_resumed(bench: Bench) -> None:
    bench.plugin.mute = True
    ref = bench.submit("publish", "vinted", bench.product())

    def pause() -> None:
        bench.publishing.move(bench.tenant, ref.job_id, Transition.PAUSE)
        bench.machine.meanwhile = lambda: None

    bench.machine.meanwhile = pause
    bench.deliver()
    assert bench.job(ref).status == "paused"
    bench.plugin.mute = False
    bench.publishing.move(bench.tenant, ref.job_id, Transition.RESUME)
    assert bench.finish(ref).status == "completed"
    assert len(bench.plugin.items) == 1


def test_a_paused_batch_rests_and_goes_on(bench: Bench) -> None:
    batch = _batch(bench, 2)
    bench.dispatch(batch)
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.PAUSE)
    bench.execute()
    assert bench.ebay.listings == {}
    bench.clock.advance(limits.PUBLISH_LED_SECONDS + 2 * jobs_limits.RESEND_GRACE_SECONDS)
    bench.sweep()
    bench.deliver()
    assert {bench.job(ref).status for ref in _children(bench, batch)} == {"paused"}
    bench.clock.advance(limits.MARKETPLACE_PENDING_SECONDS)  # what rests doesn't expire
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.RESUME)
    assert bench.finish(batch).status == "completed"
    assert len(bench.ebay.listings) == 2


def test_a_batch_of_which_a_job_rests_awaits_it_without_an_execution(bench: Bench) -> None:
    batch = _batch(bench, 2)
    bench.dispatch(batch)
    first, second = _children(bench, batch)
    bench.publishing.move(bench.tenant, first.job_id, Transition.PAUSE)
    bench.queue.take()
    bench.execute()
    assert bench.job(second).status == "completed"
    waiting = bench.job(batch)
    assert (waiting.status, waiting.locked_by) == ("running", None)
    bench.publishing.move(bench.tenant, first.job_id, Transition.RESUME)
    bench.deliver()
    assert bench.job(batch).status == "completed"


def test_a_cancelled_batch_ends_its_execution_at_the_next_step(bench: Bench) -> None:
    batch = _batch(bench, 2)
    bench.dispatch(batch)
    bench.publishing.move_batch(bench.tenant, batch.job_id, Transition.CANCEL)
    bench.execute()
    assert bench.machine.entered == {"Take": 1, "Choose": 1, "Stop": 1}
    assert bench.ebay.listings == {}


def test_one_job_that_is_tried_again_runs_alone_and_ends_its_batch_again(bench: Bench) -> None:
    bench.ebay.refused_titles["Coat 0"] = 25005
    batch = _batch(bench, 2)
    assert bench.finish(batch).status == "partially_failed"
    bench.ebay.refused_titles.clear()
    [failed] = bench.store.children(batch, [JobStatus.FAILED], None, 10).items
    bench.clock.advance(1)
    bench.publishing.move(bench.tenant, failed.job_id, Transition.RETRY)
    bench.deliver()
    assert bench.job(batch).status == "completed"
    assert len(bench.ebay.listings) == 2


def test_a_job_that_waited_too_long_is_left_to_the_sweeper(bench: Bench) -> None:
    ref = bench.submit("publish", "ebay", bench.product())
    bench.clock.advance(limits.MARKETPLACE_PENDING_SECONDS + 1)
    bench.deliver()
    assert bench.machine.entered["Step"] == 0
    state = {"tenant": ref.tenant, "job_id": ref.job_id, "turn": None, "steps": 0}
    assert bench.job_step().step(state, lambda: bench.remaining)["action"] == "left"
    bench.sweep()
    assert bench.job(ref).status == "expired"


def test_a_round_of_a_lost_claim_stops(bench: Bench) -> None:
    batch = _batch(bench, 1)
    bench.dispatch(batch)
    state: Any = next(iter(bench.executions.started.values()))
    stale = {**state, "fence": state["fence"] - 1}
    answer = bench.next_jobs().take(stale, lambda: bench.remaining)
    assert answer["action"] == "stop"
    assert ExecutionClaim.of(answer["turn"]).number == state["number"] + 1
