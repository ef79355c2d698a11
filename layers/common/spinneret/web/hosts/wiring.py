"""Chooses the adapters of host settings."""

from __future__ import annotations

from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.hosts.service import HostService
from spinneret.web.politeness.dynamo import DynamoHostLedger
from spinneret.web.politeness.service import Pace
from spinneret.web.politeness.settings import PolitenessSettings


def host_service(settings: PolitenessSettings) -> HostService:
    """Host settings of this stage."""
    return HostService(
        store=DynamoHostStore(dynamodb_client(), settings.domains_table),
        pace=host_pace(settings),
        clock=utc_now,
        default=settings.pace,
    )


def host_pace(settings: PolitenessSettings) -> Pace:
    """The pace of hosts, shared by all tenants."""
    ledger = DynamoHostLedger(dynamodb_client(), settings.domains_table)
    return Pace(ledger=ledger, clock=utc_now, new_token=lambda: uuid4().hex, stage=settings.pace)
