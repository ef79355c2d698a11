"""Wire the monitoring routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import Clock, utc_now
from spinneret.kernel.ids import id_maker
from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.ports import CheckStore
from spinneret.monitoring.incidents.dynamo import DynamoIncidentStore
from spinneret.monitoring.incidents.service import IncidentService
from spinneret.monitoring.rollups.dynamo import DynamoRollupStore
from spinneret.monitoring.rollups.service import FigureService
from spinneret.monitoring.settings import MonitoringSettings, NewTargetSettings
from spinneret.monitoring.targets.api_models import target_json
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.targets.service import TargetService
from spinneret.web.fetching.wiring import FetchSettings, address_policy


@dataclass(frozen=True, kw_only=True)
class TargetApiSettings(MonitoringSettings, NewTargetSettings, FetchSettings):
    """Environment variables of the target routes."""


@dataclass(frozen=True, kw_only=True)
class TargetApi:
    """Services of the target routes."""

    targets: TargetService
    checks: CheckStore
    incidents: IncidentService
    figures: FigureService
    default_interval: int


def target_api(env: Mapping[str, str]) -> TargetApi:
    """Build the services of the target routes."""
    settings = TargetApiSettings.from_env(env)
    client = dynamodb_client()
    checks = check_reader(settings)
    return TargetApi(
        targets=TargetService(
            store=DynamoTargetStore(client, settings.targets_table),
            policy=address_policy(settings),
            clock=utc_now,
            new_id=id_maker(utc_now),
            render=target_json,
            most=settings.targets_per_tenant,
            shortest_interval=settings.check_interval,
        ),
        checks=checks,
        incidents=IncidentService(
            store=DynamoIncidentStore(client, settings.targets_table), clock=utc_now
        ),
        figures=figure_service(settings, checks, utc_now),
        default_interval=settings.check_interval,
    )


def check_reader(settings: MonitoringSettings) -> DynamoCheckStore:
    """Build a read-only store of results."""
    return DynamoCheckStore(dynamodb_client(), settings.targets_table, settings.checks_table)


def figure_service(settings: MonitoringSettings, checks: CheckStore, clock: Clock) -> FigureService:
    """Build the figure service of this stage."""
    figures = DynamoRollupStore(dynamodb_client(), settings.checks_table)
    return FigureService(figures=figures, checks=checks, clock=clock)
