"""Build host settings and the pace of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.web.fetching.wiring import FetchSettings, address_policy
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.politeness.settings import PolitenessSettings


@dataclass(frozen=True, kw_only=True)
class HostServiceSettings(PolitenessSettings, FetchSettings):
    """The ledger's table, and the hosts that this stage may reach."""


def host_service(settings: HostServiceSettings) -> HostService:
    """Return the host settings of this stage."""
    return HostService(
        store=DynamoHostStore(dynamodb_client(), settings.domains_table),
        pace=host_pace(settings),
        policy=address_policy(settings),
        clock=utc_now,
        default=settings.pace,
    )


def host_pace(settings: PolitenessSettings) -> HostRateLimiter:
    """Return the pace of hosts, which all tenants share."""
    ledger = DynamoHostStateStore(dynamodb_client(), settings.domains_table)
    return HostRateLimiter(
        ledger=ledger, clock=utc_now, new_token=lambda: uuid4().hex, stage=settings.pace
    )
