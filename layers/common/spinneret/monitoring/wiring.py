"""Wire the monitoring routes."""

import os
from dataclasses import dataclass
from functools import partial
from typing import Final

from spinneret.aws.stage import SECRETS_KEY_ID, Stage, reads
from spinneret.events.wiring import RELAY, relay
from spinneret.jobs.wiring import EVENTS_TABLE, LANES_URL, SUBMISSION, job_service
from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.due.dynamo import DynamoDueIndex
from spinneret.monitoring.due.service import FirstChecks
from spinneret.monitoring.due.sqs import SqsCheckLane
from spinneret.monitoring.heartbeats.service import HeartbeatService
from spinneret.monitoring.imports.service import ImportService
from spinneret.monitoring.incidents.dynamo import DynamoIncidentStore
from spinneret.monitoring.incidents.service import IncidentService
from spinneret.monitoring.notices.dynamo import DynamoNoticeStore
from spinneret.monitoring.notices.service import NoticeService
from spinneret.monitoring.rollups.dynamo import DynamoRollupStore
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.status_page.dynamo import DynamoStatusPageStore
from spinneret.monitoring.status_page.service import StatusPages
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.sealing import RequestSeal
from spinneret.monitoring.targets.service import TargetService
from spinneret.monitoring.targets.views import target_json
from spinneret.monitoring.variables import (
    CHECK_INTERVAL,
    CHECKS_TABLE,
    TARGETS_PER_TENANT,
    TARGETS_TABLE,
)
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import Maintenance, WindowService
from spinneret.outbox.dynamo import event_write
from spinneret.web.fetching.wiring import ADDRESSES, address_policy
from spinneret.web.hosts.wiring import RATE_LIMIT__DEFAULT_RPS

NEW_TARGETS: Final = (
    *ADDRESSES,
    SECRETS_KEY_ID,
    LANES_URL,
    TARGETS_TABLE,
    TARGETS_PER_TENANT,
    CHECK_INTERVAL,
    RATE_LIMIT__DEFAULT_RPS,
)


@dataclass(frozen=True, kw_only=True)
class TargetApi:
    """Services of the target routes."""

    targets: TargetService
    checks: CheckStore
    incidents: IncidentService
    figures: FigureService
    default_interval: int


@reads(*NEW_TARGETS, CHECKS_TABLE)
def target_api(stage: Stage) -> TargetApi:
    """Build the services of the target routes."""
    client, targets, results = stage.dynamodb, stage[TARGETS_TABLE], stage[CHECKS_TABLE]
    checks = DynamoCheckStore(client, targets, results)  # without an event writer: reads only
    return TargetApi(
        targets=target_service(stage),
        checks=checks,
        incidents=IncidentService(store=DynamoIncidentStore(client, targets), clock=stage.clock),
        figures=FigureService(
            rollups=DynamoRollupStore(client, results), checks=checks, clock=stage.clock
        ),
        default_interval=stage[CHECK_INTERVAL],
    )


def target_service(stage: Stage) -> TargetService:
    """Build the target service of this stage."""
    return TargetService(
        store=DynamoTargetStore(stage.dynamodb, stage[TARGETS_TABLE]),
        policy=address_policy(stage),
        clock=stage.clock,
        new_id=stage.new_id,
        render=target_json,
        most=stage[TARGETS_PER_TENANT],
        shortest_interval=stage[CHECK_INTERVAL],
        rate=stage[RATE_LIMIT__DEFAULT_RPS],
        announce=first_checks(stage).send,
        seal=RequestSeal(stage.sealer),
        random=os.urandom,
    )


def first_checks(stage: Stage) -> FirstChecks:
    """Build the sender of checks that come before the tick's."""
    return FirstChecks(
        index=DynamoDueIndex(stage.dynamodb, stage[TARGETS_TABLE]),
        lane=SqsCheckLane(stage.sqs, stage[LANES_URL], stage.clock),
        clock=stage.clock,
    )


@reads(*RELAY, LANES_URL, TARGETS_TABLE, CHECKS_TABLE)
def heartbeat_service(stage: Stage) -> HeartbeatService:
    """Build the service of heartbeats' calls."""
    client, table = stage.dynamodb, stage[TARGETS_TABLE]
    write = partial(event_write, stage[EVENTS_TABLE])
    return HeartbeatService(
        targets=DynamoTargetStore(client, table),
        checks=DynamoCheckStore(client, table, stage[CHECKS_TABLE], write),
        covers=Maintenance(store=DynamoWindowStore(client, table), clock=stage.clock).covers,
        relay_events=relay(stage).relay,
        announce=first_checks(stage).send,
        clock=stage.clock,
        new_id=stage.new_id,
    )


@reads(*SUBMISSION, *ADDRESSES, CHECK_INTERVAL)
def import_service(stage: Stage) -> ImportService:
    """Build the import service of this stage."""
    return ImportService(
        jobs=job_service(stage),
        policy=address_policy(stage),
        shortest_interval=stage[CHECK_INTERVAL],
    )


@reads(TARGETS_TABLE)
def window_service(stage: Stage) -> WindowService:
    """Build the window service of this stage."""
    client, table = stage.dynamodb, stage[TARGETS_TABLE]
    return WindowService(
        store=DynamoWindowStore(client, table),
        targets=DynamoTargetStore(client, table),
        clock=stage.clock,
        new_id=stage.new_id,
    )


@reads(TARGETS_TABLE)
def notice_service(stage: Stage) -> NoticeService:
    """Build the notice service of this stage."""
    client, table = stage.dynamodb, stage[TARGETS_TABLE]
    return NoticeService(
        store=DynamoNoticeStore(client, table),
        pages=DynamoStatusPageStore(client, table),
        clock=stage.clock,
        new_id=stage.new_id,
    )


@reads(TARGETS_TABLE, CHECKS_TABLE)
def status_pages(stage: Stage) -> StatusPages:
    """Build the status pages of this stage."""
    client, table = stage.dynamodb, stage[TARGETS_TABLE]
    return StatusPages(
        pages=DynamoStatusPageStore(client, table),
        targets=DynamoTargetStore(client, table),
        figures=DynamoRollupStore(client, stage[CHECKS_TABLE]),
        notices=DynamoNoticeStore(client, table),
        maintenance=Maintenance(store=DynamoWindowStore(client, table), clock=stage.clock),
        clock=stage.clock,
    )
