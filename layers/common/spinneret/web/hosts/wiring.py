"""Chooses the adapters of domain settings."""

from __future__ import annotations

from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.web.hosts.dynamo import DynamoSiteStore
from spinneret.web.hosts.service import SiteSettings
from spinneret.web.politeness.dynamo import DynamoDomainLedger
from spinneret.web.politeness.service import Pace
from spinneret.web.politeness.settings import PolitenessSettings


def site_settings(settings: PolitenessSettings) -> SiteSettings:
    """Domain settings of this stage."""
    return SiteSettings(
        store=DynamoSiteStore(dynamodb_client(), settings.domains_table),
        pace=host_pace(settings),
        clock=utc_now,
        default=settings.pace,
    )


def host_pace(settings: PolitenessSettings) -> Pace:
    """The pace of hosts, which all tenants share."""
    ledger = DynamoDomainLedger(dynamodb_client(), settings.domains_table)
    return Pace(ledger=ledger, clock=utc_now, new_token=lambda: uuid4().hex, stage=settings.pace)
