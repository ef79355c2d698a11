"""Choice of the job kernel's adapters."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client, sockets_client, sqs_client
from spinneret.jobs import limits
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.driven.driving import Driver
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.ends import handing_on
from spinneret.jobs.kinds import Kinds, all_kinds, all_lanes
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.live.pushes import LiveEvents, Pushes
from spinneret.jobs.live.service import LiveService, Others
from spinneret.jobs.live.sockets import ApiGatewaySockets
from spinneret.jobs.parents import ParentEnds, ParentRecheck
from spinneret.jobs.ports import JobStore, Listener
from spinneret.jobs.publishing import PublishingJobStore
from spinneret.jobs.redrive import Redrive, RedriveResult
from spinneret.jobs.service import JobService
from spinneret.jobs.settings import EndSettings, JobSettings, LaneSettings
from spinneret.jobs.sqs import SqsDeadLetterQueues, SqsJobQueue
from spinneret.jobs.sweeper import Sweeper, SweepResult
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.outbox.ports import HandOn


def job_store(settings: JobSettings) -> DynamoJobStore:
    """Return the store for submission and look-up; it publishes nothing, refuses reported ends."""
    return DynamoJobStore(
        dynamodb_client(), settings.jobs_table, settings.idempotency_table, clock=utc_now
    )


def pushing_store(settings: JobSettings) -> JobStore:
    """Return the store for jobs of kinds that emit nothing and are no children."""
    return PublishingJobStore(job_store(settings), LiveEvents(pushes(settings)))


def ending_store(settings: EndSettings, hand_on: HandOn, *listeners: Listener) -> JobStore:
    """Return the store for all code that moves jobs.

    It relays the events of ends, ends a parent after its last child, and calls `listeners`.
    """
    inner = DynamoJobStore(
        dynamodb_client(),
        settings.jobs_table,
        settings.idempotency_table,
        settings.events_table,
        clock=utc_now,
    )
    live = LiveEvents(pushes(settings))
    store = PublishingJobStore(inner, live, handing_on(all_kinds(), hand_on), *listeners)
    store.listen(ParentEnds(store=store, clock=utc_now))
    return store


def pushes(settings: JobSettings) -> Pushes:
    """Return the pushes to the WebSocket clients of this stage."""
    return Pushes(
        connections=DynamoConnectionStore(dynamodb_client(), settings.jobs_table),
        sockets=sockets(settings),
        monotonic=time.monotonic,
        clock=utc_now,
    )


def sockets(settings: JobSettings) -> ApiGatewaySockets:
    """Return the WebSocket API of this stage."""
    return ApiGatewaySockets(sockets_client(settings.websocket_url, limits.PUSH_SECONDS))


def live_service(settings: JobSettings, others: Others | None = None) -> LiveService:
    """Return the subscriptions of WebSocket clients; `others` are further actions of products."""
    client = dynamodb_client()
    return LiveService(
        store=job_store(settings),
        connections=DynamoConnectionStore(client, settings.jobs_table),
        sockets=sockets(settings),
        clock=utc_now,
        others=others,
    )


def job_queue(settings: JobSettings) -> SqsJobQueue:
    """Return the lanes of this stage."""
    return SqsJobQueue(sqs_client(), settings.lanes_url)


def job_service(settings: JobSettings, kinds: Kinds | None = None) -> JobService:
    """Return submission and look-up; `kinds` override declared kinds for this stage."""
    return JobService(
        store=job_store(settings),
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def job_control(settings: JobSettings, store: JobStore) -> JobControl:
    """Return the operations of tenants on jobs."""
    return JobControl(
        store=store,
        queue=job_queue(settings),
        kinds=all_kinds(),
        clock=utc_now,
        sleep=time.sleep,
    )


def children(
    settings: JobSettings, store: JobStore, kinds: Kinds | None = None, led_seconds: float = 0.0
) -> Children:
    """Return the service with which handlers of parents create their children.

    `kinds` as for `job_service`, `led_seconds` as for `Children`.
    """
    return Children(
        store=store,
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        clock=utc_now,
        new_id=id_maker(utc_now),
        move=job_control(settings, store).move,
        led_seconds=led_seconds,
    )


def driver(settings: JobSettings, store: JobStore) -> Driver:
    """Return the service with which the steps of an execution write to their job."""
    return Driver(
        store=store,
        queue=job_queue(settings),
        kinds=all_kinds(),
        clock=utc_now,
        random=random.random,
    )


def worker(
    settings: JobSettings,
    handlers: Mapping[str, Handler],
    store: JobStore,
    kinds: Kinds | None = None,
) -> Worker:
    """Return a worker of the given kinds; `kinds` as for `job_service`."""
    return Worker(
        store=store,
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        handlers=handlers,
        clock=utc_now,
        random=random.random,
        new_owner=lambda: uuid4().hex,
    )


def sweep_pass(settings: JobSettings, store: JobStore) -> Callable[[], SweepResult]:
    """Return a function that performs one pass of the sweeper."""
    control = job_control(settings, store)
    sweeper = Sweeper(
        store=store,
        queue=job_queue(settings),
        kinds=all_kinds(),
        clock=utc_now,
        look_at_parent=ParentRecheck(
            store=store, ends=ParentEnds(store=store, clock=utc_now), control=control, clock=utc_now
        ),
    )
    return sweeper.sweep


def redrive_pass(env: Mapping[str, str]) -> Callable[[], RedriveResult]:
    """Return a function that performs one pass over the dead letters, for its schedule rule."""
    settings = LaneSettings.from_env(env)
    return Redrive(SqsDeadLetterQueues(sqs_client(), settings.lanes_url), all_lanes()).run
