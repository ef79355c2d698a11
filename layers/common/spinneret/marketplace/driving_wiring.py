"""Wire the adapters that drive publishing: lanes, rounds and callbacks. They need neither a fetcher
nor a marketplace's API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, stepfunctions_client
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions, StepFunctionsTokens
from spinneret.jobs.live.pushes import LiveEvents
from spinneret.jobs.parents import ParentEnds
from spinneret.jobs.ports import JobStore
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import children, driver, job_store, pushes, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.kernel.settings import Settings
from spinneret.marketplace import limits
from spinneret.marketplace.kinds import PUBLISH_BATCH
from spinneret.marketplace.publishing.dispatch import Dispatcher, batch_preparation
from spinneret.marketplace.publishing.rounds import NextJobsStep
from spinneret.marketplace.publishing.wiring import counting
from spinneret.marketplace.vinted.dynamo import DynamoPluginStore
from spinneret.marketplace.vinted.transport import PluginCallbacks


@dataclass(frozen=True, kw_only=True)
class PublishingSettings(JobSettings):
    """Settings of all functions that advance marketplace jobs."""

    marketplace_table: str


@dataclass(frozen=True, kw_only=True)
class LanePublishingSettings(PublishingSettings):
    """Settings of the functions that start executions."""

    publish_machine: str
    """ARN of the state machine."""


@dataclass(frozen=True, kw_only=True)
class NextJobsSettings(PublishingSettings):
    """Settings of the step that chooses the next jobs."""

    publish_segment_steps: int = 1000


@dataclass(frozen=True, kw_only=True)
class CallbackSettings(Settings):
    """Settings of the state that waits for a plug-in."""

    jobs_table: str
    marketplace_table: str


def publish_dispatcher(env: Mapping[str, str]) -> Dispatcher:
    """Build the handler of the marketplace lanes' messages."""
    settings = LanePublishingSettings.from_env(env)
    store = publishing_store(settings)
    return Dispatcher(
        store=store,
        batches=batch_worker(settings, store, settings.publish_machine),
        executions=_executions(settings.publish_machine),
        clock=utc_now,
    )


def publish_rounds(env: Mapping[str, str]) -> NextJobsStep:
    """Build the step that chooses the next jobs."""
    settings = NextJobsSettings.from_env(env)
    store = publishing_store(settings)
    return NextJobsStep(
        driver=driver(settings, store),
        store=store,
        clock=utc_now,
        segment_steps=settings.publish_segment_steps,
    )


def publish_callbacks(env: Mapping[str, str]) -> PluginCallbacks:
    """Build the handler of the state that waits for a plug-in."""
    settings = CallbackSettings.from_env(env)
    store = DynamoPluginStore(dynamodb_client(), settings.marketplace_table, settings.jobs_table)
    return PluginCallbacks(
        store=store, tokens=StepFunctionsTokens(stepfunctions_client()), clock=utc_now
    )


def batch_worker(settings: JobSettings, store: JobStore, machine: str) -> Worker:
    """Build the worker that creates the jobs of a batch and starts its execution."""
    makes = children(settings, store, led_seconds=limits.PUBLISH_LED_SECONDS)
    starter = Starter(executions=_executions(machine), prepare=batch_preparation(makes))
    return worker(settings, {PUBLISH_BATCH: starter}, store)


def publishing_store(settings: PublishingSettings) -> JobStore:
    """Build the job store of functions that advance marketplace jobs, whose kinds emit no events.

    Ends are counted by action type, and the last job of a batch ends the batch.
    """
    counts = counting(settings.marketplace_table)
    store = PublishingJobStore(job_store(settings), LiveEvents(pushes(settings)), counts)
    store.listen(ParentEnds(store=store, clock=utc_now))
    return store


def _executions(machine: str) -> StepFunctionsExecutions:
    return StepFunctionsExecutions(stepfunctions_client(), machine)
