"""Chooses the adapters of the job kernel."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client, sockets_client, sqs_client
from spinneret.jobs.children import Children
from spinneret.jobs.control import JobControl
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.kinds import Kinds, all_kinds, all_lanes
from spinneret.jobs.live.dynamo import DynamoConnectionStore
from spinneret.jobs.live.service import LiveEvents, LiveService
from spinneret.jobs.live.sockets import ApiGatewaySockets
from spinneret.jobs.parents import ParentEnds, ParentLook
from spinneret.jobs.ports import Listener
from spinneret.jobs.redrive import Redrive, Redriven
from spinneret.jobs.service import JobService
from spinneret.jobs.settings import JobSettings, LaneSettings
from spinneret.jobs.sqs import SqsDeadLetterQueues, SqsJobQueue
from spinneret.jobs.sweeper import Sweeper, Swept
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker


def job_store(settings: JobSettings, *listeners: Listener) -> DynamoJobStore:
    """The store of this stage; events go to subscribers and listeners."""
    client = dynamodb_client()
    live_events = LiveEvents(
        DynamoConnectionStore(client, settings.jobs_table),
        sockets(settings),
        time.monotonic,
        utc_now,
    )
    store = DynamoJobStore(
        client, settings.jobs_table, settings.idempotency_table, [live_events, *listeners]
    )
    store.listen(ParentEnds(store, utc_now))
    return store


def sockets(settings: JobSettings) -> ApiGatewaySockets:
    """The WebSocket API of this stage."""
    return ApiGatewaySockets(sockets_client(settings.websocket_url, bounds.PUSH_SECONDS))


def live_service(settings: JobSettings) -> LiveService:
    """Subscriptions of WebSocket clients."""
    client = dynamodb_client()
    return LiveService(
        store=DynamoJobStore(client, settings.jobs_table, settings.idempotency_table),
        connections=DynamoConnectionStore(client, settings.jobs_table),
        sockets=sockets(settings),
        clock=utc_now,
    )


def job_queue(settings: JobSettings) -> SqsJobQueue:
    """The lanes of this stage."""
    return SqsJobQueue(sqs_client(), settings.lanes_url)


def job_service(settings: JobSettings, kinds: Kinds | None = None) -> JobService:
    """Submission and look-up; `kinds` are those that this stage sets otherwise than declared."""
    return JobService(
        store=job_store(settings),
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        clock=utc_now,
        new_id=id_maker(utc_now),
    )


def job_control(settings: JobSettings, *listeners: Listener) -> JobControl:
    """Reading and steering jobs."""
    return JobControl(
        store=job_store(settings, *listeners),
        queue=job_queue(settings),
        kinds=all_kinds(),
        clock=utc_now,
        sleep=time.sleep,
    )


def children(settings: JobSettings, *listeners: Listener, kinds: Kinds | None = None) -> Children:
    """What the handlers of parents make their children with; `kinds` as for `job_service`."""
    return Children(
        store=job_store(settings, *listeners),
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        clock=utc_now,
        new_id=id_maker(utc_now),
        move=job_control(settings, *listeners).move,
    )


def worker(
    settings: JobSettings,
    handlers: Mapping[str, Handler],
    *listeners: Listener,
    kinds: Kinds | None = None,
) -> Worker:
    """A worker of the given kinds; `kinds` as for `job_service`."""
    return Worker(
        store=job_store(settings, *listeners),
        queue=job_queue(settings),
        kinds={**all_kinds(), **(kinds or {})},
        handlers=handlers,
        clock=utc_now,
        random=random.random,
        new_owner=lambda: uuid4().hex,
    )


def sweep_pass(settings: JobSettings, notify: Listener) -> Callable[[], Swept]:
    """One pass of the sweeper; `notify` publishes the ends that were not published."""
    store = job_store(settings, notify)
    control = job_control(settings, notify)
    sweeper = Sweeper(
        store=store,
        queue=job_queue(settings),
        kinds=all_kinds(),
        clock=utc_now,
        notify=notify,
        look_at_parent=ParentLook(store, ParentEnds(store, utc_now), control, utc_now),
    )
    return sweeper.sweep


def redrive_pass(env: Mapping[str, str]) -> Callable[[], Redriven]:
    """One pass over the dead letters, for its rule."""
    settings = LaneSettings.from_env(env)
    return Redrive(SqsDeadLetterQueues(sqs_client(), settings.lanes_url), all_lanes()).run
