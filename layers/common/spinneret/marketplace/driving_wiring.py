"""Wire the adapters that drive publishing: lanes, rounds and callbacks. They need neither a fetcher
nor a marketplace's API."""

from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions, StepFunctionsTokens
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.ports import JobStore
from spinneret.jobs.wiring import JOBS, JOBS_TABLE, children, driver, pushing_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.settings import integer, text
from spinneret.marketplace import limits
from spinneret.marketplace.kinds import PUBLISH_BATCH
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.inbox import PluginCallbacks
from spinneret.marketplace.publishing.dispatch import Dispatcher, batch_preparation
from spinneret.marketplace.publishing.next_jobs import NextJobsStep
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE, counting

PUBLISH_MACHINE: Final = text("PUBLISH_MACHINE")
"""ARN of the state machine."""
PUBLISH_SEGMENT_STEPS: Final = integer("PUBLISH_SEGMENT_STEPS", 1000)
PUBLISHING: Final = (*JOBS, MARKETPLACE_TABLE)


@reads(*PUBLISHING, PUBLISH_MACHINE)
def publish_dispatcher(stage: Stage) -> Dispatcher:
    """Build the handler of the marketplace lanes' messages."""
    store = publishing_store(stage)
    return Dispatcher(
        store=store,
        batches=batch_worker(stage, store),
        executions=_executions(stage),
        clock=stage.clock,
    )


@reads(*PUBLISHING, PUBLISH_SEGMENT_STEPS)
def next_jobs_step(stage: Stage) -> NextJobsStep:
    """Build the step that chooses the next jobs."""
    store = publishing_store(stage)
    return NextJobsStep(
        driver=driver(stage, store),
        store=store,
        clock=stage.clock,
        segment_steps=stage[PUBLISH_SEGMENT_STEPS],
    )


@reads(JOBS_TABLE, MARKETPLACE_TABLE)
def publish_callbacks(stage: Stage) -> PluginCallbacks:
    """Build the handler of the state that waits for a plug-in."""
    store = DynamoPluginStore(stage.dynamodb, stage[MARKETPLACE_TABLE], stage[JOBS_TABLE])
    tokens = StepFunctionsTokens(stage.step_functions)
    return PluginCallbacks(store=store, tokens=tokens, clock=stage.clock)


def batch_worker(stage: Stage, store: JobStore) -> Worker:
    """Build the worker that creates the jobs of a batch and starts its execution."""
    makes = children(stage, store, led_seconds=limits.PUBLISH_LED_SECONDS)
    starter = Starter(executions=_executions(stage), prepare=batch_preparation(makes, stage.clock))
    return worker(stage, {PUBLISH_BATCH: starter}, store)


def publishing_store(stage: Stage) -> JobStore:
    """Build the job store of functions that advance marketplace jobs, whose kinds emit no events.

    Ends are counted by action type, and the last job of a batch ends the batch.
    """
    store = pushing_store(stage, counting(stage))
    store.listen(ParentEnds(store=store, clock=stage.clock))
    return store


def _executions(stage: Stage) -> StepFunctionsExecutions:
    return StepFunctionsExecutions(stage.step_functions, stage[PUBLISH_MACHINE])
