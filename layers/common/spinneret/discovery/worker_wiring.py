"""Choice of the discovery worker's adapters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.discovery.dynamo import DynamoDiscoveryStore
from spinneret.discovery.exploring import DiscoveryHandler
from spinneret.discovery.kinds import DISCOVER
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.wiring import ending_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.wiring import PoliteFetchSettings, polite_fetcher


@dataclass(frozen=True, kw_only=True)
class DiscoveryWorkerSettings(RelaySettings, PoliteFetchSettings):
    """The discovery worker's environment."""

    plans_table: str
    common_crawl_url: str
    """URL of the list of Common Crawl's indexes, newest first."""


def discovery_worker(env: Mapping[str, str]) -> Worker:
    """Return a worker for the lane of discoveries."""
    settings = DiscoveryWorkerSettings.from_env(env)
    handler = DiscoveryHandler(
        fetcher=polite_fetcher(settings),
        store=DynamoDiscoveryStore(dynamodb_client(), settings.plans_table, settings.jobs_table),
        common_crawl_url=settings.common_crawl_url,
        clock=utc_now,
    )
    store = ending_store(settings, relay(settings).relay)
    return worker(settings, {DISCOVER: handler}, store)
