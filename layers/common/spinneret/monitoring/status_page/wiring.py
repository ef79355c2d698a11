"""Wire status pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.monitoring.rollups.dynamo import DynamoRollupStore
from spinneret.monitoring.settings import TargetSettings
from spinneret.monitoring.status_page.dynamo import DynamoStatusPageStore
from spinneret.monitoring.status_page.service import StatusPages
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import Maintenance


@dataclass(frozen=True, kw_only=True)
class StatusPageSettings(TargetSettings):
    """Environment variables of status pages."""

    checks_table: str


def status_pages(env: Mapping[str, str]) -> StatusPages:
    """Build the status pages of this stage."""
    settings = StatusPageSettings.from_env(env)
    client, table = dynamodb_client(), settings.targets_table
    return StatusPages(
        pages=DynamoStatusPageStore(client, table),
        targets=DynamoTargetStore(client, table),
        figures=DynamoRollupStore(client, settings.checks_table),
        maintenance=Maintenance(store=DynamoWindowStore(client, table), clock=utc_now),
        clock=utc_now,
    )
