"""Choice of the job kernel's adapters."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Final

from spinneret.aws.clients import sockets_client
from spinneret.aws.stage import Stage, reads
from spinneret.jobs import limits
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.ends import measuring, relaying
from spinneret.jobs.kinds import Kinds, all_kinds, all_lanes
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.live.pushes import LiveEvents, Pushes
from spinneret.jobs.live.service import LiveService, Others
from spinneret.jobs.live.sockets import ApiGatewaySockets
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Job
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.placement import always
from spinneret.jobs.ports import JobStore, Listener
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.redrive import Redrive, RedriveResult
from spinneret.jobs.service import JobService
from spinneret.jobs.sqs import SqsDeadLetterQueues, SqsJobQueue
from spinneret.jobs.sweeper import Sweeper, SweepResult
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.caller import current_caller
from spinneret.kernel.settings import text
from spinneret.outbox.ports import RelayEvents

JOBS_TABLE: Final = text("JOBS_TABLE")
IDEMPOTENCY_TABLE: Final = text("IDEMPOTENCY_TABLE")
EVENTS_TABLE: Final = text("EVENTS_TABLE")
LANES_URL: Final = text("LANES_URL")
"""Common prefix of all lanes' queue URLs; a lane's name is appended (`jobs.sqs`)."""
WEBSOCKET_URL: Final = text("WEBSOCKET_URL")
"""The `@connections` endpoint of the WebSocket API."""
SUBMISSION: Final = (JOBS_TABLE, IDEMPOTENCY_TABLE, LANES_URL)
JOBS: Final = (*SUBMISSION, WEBSOCKET_URL)


def job_store(stage: Stage) -> DynamoJobStore:
    """Return the store for submission and look-up; it publishes nothing, refuses reported ends."""
    tables = stage[JOBS_TABLE], stage[IDEMPOTENCY_TABLE]
    return DynamoJobStore(stage.dynamodb, *tables, clock=stage.clock)


def pushing_store(stage: Stage, *listeners: Listener) -> PublishingJobStore:
    """Return the store for jobs of kinds that emit nothing and are no children."""
    live = LiveEvents(pushes(stage))
    return PublishingJobStore(job_store(stage), live, measuring(all_kinds()), *listeners)


def ending_store(stage: Stage, relay_events: RelayEvents, *listeners: Listener) -> JobStore:
    """Return the store for all code that moves jobs.

    It relays the events of ends, ends a parent after its last child, and calls `listeners`.
    """
    tables = stage[JOBS_TABLE], stage[IDEMPOTENCY_TABLE], stage[EVENTS_TABLE]
    inner = DynamoJobStore(stage.dynamodb, *tables, clock=stage.clock)
    live = LiveEvents(pushes(stage))
    ends = relaying(all_kinds(), relay_events), measuring(all_kinds())
    store = PublishingJobStore(inner, live, *ends, *listeners)
    store.listen(ParentEnds(store=store, clock=stage.clock))
    return store


def pushes(stage: Stage) -> Pushes:
    """Return the pushes to the WebSocket clients of this stage."""
    return Pushes(
        connections=DynamoConnectionStore(stage.dynamodb, stage[JOBS_TABLE]),
        sockets=sockets(stage),
        monotonic=time.monotonic,
        clock=stage.clock,
    )


def sockets(stage: Stage) -> ApiGatewaySockets:
    """Return the WebSocket API of this stage."""
    return ApiGatewaySockets(sockets_client(stage[WEBSOCKET_URL], limits.PUSH_SECONDS))


def live_service(stage: Stage, others: Others | None = None) -> LiveService:
    """Return the subscriptions of WebSocket clients; `others` are further actions of products."""
    return LiveService(
        store=job_store(stage),
        connections=DynamoConnectionStore(stage.dynamodb, stage[JOBS_TABLE]),
        sockets=sockets(stage),
        clock=stage.clock,
        others=others or {},
    )


def job_queue(stage: Stage) -> SqsJobQueue:
    """Return the lanes of this stage."""
    return SqsJobQueue(stage.sqs, stage[LANES_URL])


def job_service(
    stage: Stage,
    kinds: Kinds | None = None,
    store: JobStore | None = None,
    result_exists: Callable[[Job], bool] = always,
) -> JobService:
    """Return submission and look-up; `kinds` override declared kinds for this stage.

    Without a store that publishes, it can submit, but not supply. For `result_exists`, see
    Deduplication.
    """
    return JobService(
        store=store or job_store(stage),
        queue=job_queue(stage),
        kinds={**all_kinds(), **(kinds or {})},
        clock=stage.clock,
        new_id=stage.new_id,
        caller=current_caller,
        result_exists=result_exists,
    )


def job_control(stage: Stage, store: JobStore) -> JobControl:
    """Return the operations of tenants on jobs."""
    return JobControl(
        store=store,
        queue=job_queue(stage),
        kinds=all_kinds(),
        clock=stage.clock,
    )


@reads(JOBS_TABLE, IDEMPOTENCY_TABLE)
def job_waits(stage: Stage) -> JobWaits:
    """Return the waits of requests for jobs."""
    return JobWaits(store=job_store(stage), clock=stage.clock, sleep=time.sleep)


def children(
    stage: Stage,
    store: JobStore,
    kinds: Kinds | None = None,
    led_seconds: float = 0.0,
    result_exists: Callable[[Job], bool] = always,
) -> Children:
    """Return the service with which handlers of parents create their children.

    `kinds` and `result_exists` as for `job_service`, `led_seconds` as for `Children`.
    """
    return Children(
        store=store,
        queue=job_queue(stage),
        kinds={**all_kinds(), **(kinds or {})},
        clock=stage.clock,
        new_id=stage.new_id,
        move=job_control(stage, store).move,
        led_seconds=led_seconds,
        result_exists=result_exists,
    )


def driver(stage: Stage, store: JobStore) -> Driver:
    """Return the service with which the steps of an execution write to their job."""
    return Driver(
        store=store,
        queue=job_queue(stage),
        kinds=all_kinds(),
        clock=stage.clock,
        random=random.random,
        retry_delays=stage.retry_delays,
    )


def worker(
    stage: Stage, handlers: Mapping[str, Handler], store: JobStore, kinds: Kinds | None = None
) -> Worker:
    """Return a worker of the given kinds; `kinds` as for `job_service`."""
    return Worker(
        store=store,
        queue=job_queue(stage),
        kinds={**all_kinds(), **(kinds or {})},
        handlers=handlers,
        clock=stage.clock,
        random=random.random,
        new_owner=stage.new_token,
        retry_delays=stage.retry_delays,
    )


def sweep_pass(stage: Stage, store: JobStore) -> Callable[[], SweepResult]:
    """Return a function that performs one pass of the sweeper."""
    ends = ParentEnds(store=store, clock=stage.clock)
    control = job_control(stage, store)
    return Sweeper(
        store=store,
        queue=job_queue(stage),
        kinds=all_kinds(),
        clock=stage.clock,
        look_at_parent=ParentRecheck(store=store, ends=ends, control=control, clock=stage.clock),
    ).sweep


@reads(LANES_URL)
def redrive_pass(stage: Stage) -> Callable[[], RedriveResult]:
    """Return a function that performs one pass over the dead letters, for its schedule rule."""
    return Redrive(SqsDeadLetterQueues(stage.sqs, stage[LANES_URL]), all_lanes()).run
