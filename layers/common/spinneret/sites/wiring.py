"""Chooses the adapters of domain settings."""

from __future__ import annotations

from uuid import uuid4

from spinneret.adapters.aws import dynamodb_client
from spinneret.kernel.clock import utc_now
from spinneret.politeness.dynamo import DynamoDomainLedger
from spinneret.politeness.service import Pace
from spinneret.politeness.settings import PolitenessSettings
from spinneret.sites.dynamo import DynamoSiteStore
from spinneret.sites.service import SiteSettings


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
