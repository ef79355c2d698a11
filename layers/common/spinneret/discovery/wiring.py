"""Choice of the adapters of discoveries, for their routes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.discovery.dynamo import DynamoDiscoveryStore
from spinneret.discovery.service import DiscoveryService
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_service
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import HostServiceSettings, host_service


@dataclass(frozen=True, kw_only=True)
class DiscoverySettings(JobSettings, HostServiceSettings):
    """Table of results, and whether this stage offers discovery."""

    plans_table: str
    features__enable_url_discovery: bool = True


def discovery_api(env: Mapping[str, str]) -> DiscoveryService:
    """Return the discovery service of this stage."""
    settings = DiscoverySettings.from_env(env)
    return discovery_service(
        settings,
        settings,
        plans_table=settings.plans_table,
        enabled=settings.features__enable_url_discovery,
    )


def discovery_service(
    jobs: JobSettings, politeness: HostServiceSettings, *, plans_table: str, enabled: bool
) -> DiscoveryService:
    """Return the discovery service for settings that were already read."""
    store = DynamoDiscoveryStore(dynamodb_client(), plans_table, jobs.jobs_table)
    return DiscoveryService(
        jobs=job_service(jobs),
        store=store,
        policy=address_policy(politeness),
        hosts=host_service(politeness),
        enabled=enabled,
    )
