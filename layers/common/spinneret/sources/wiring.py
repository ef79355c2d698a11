"""Services of sources, for their routes and for the rule that runs every minute."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.crawl.wiring import CrawlApi, CrawlApiSettings, crawl_api
from spinneret.discovery.wiring import discovery_service
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.wiring import relay
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.sources import limits
from spinneret.sources.dynamo import DynamoSourceStore
from spinneret.sources.running import SourceRuns, SourceTickResult
from spinneret.sources.service import SourceService
from spinneret.sources.source_adapters import SourceCrawls, SourceDiscoveries
from spinneret.web.fetching.wiring import address_policy


@dataclass(frozen=True, kw_only=True)
class SourceSettings(CrawlApiSettings):
    """Tables of collections and documents, and whether this stage offers discovery."""

    labels_table: str
    documents_table: str
    features__enable_url_discovery: bool = True


@dataclass(frozen=True, kw_only=True)
class SourceApi:
    """Services that the routes of sources use."""

    sources: SourceService
    webhooks: WebhookService


def source_api(env: Mapping[str, str]) -> SourceApi:
    """Build the services for the routes of sources."""
    settings = SourceSettings.from_env(env)
    crawling = crawl_api(env)
    store = _store(settings)
    new_id = id_maker(utc_now)
    return SourceApi(
        sources=SourceService(
            store=store,
            runs=_runs(settings, store, crawling),
            policy=address_policy(settings),
            webhooks=crawling.webhooks,
            clock=utc_now,
            new_id=new_id,
        ),
        webhooks=crawling.webhooks,
    )


def source_pass(env: Mapping[str, str]) -> Callable[[], SourceTickResult]:
    """Return the pass over due sources that their rule starts."""
    settings = SourceSettings.from_env(env)
    runs = _runs(settings, _store(settings), crawl_api(env))

    def tick() -> SourceTickResult:
        until = time.monotonic() + limits.SOURCE_TICK_SECONDS
        return runs.tick(lambda: time.monotonic() < until)

    return tick


def _store(settings: SourceSettings) -> DynamoSourceStore:
    return DynamoSourceStore(
        dynamodb_client(), settings.plans_table, settings.labels_table, settings.events_table
    )


def _runs(settings: SourceSettings, store: DynamoSourceStore, crawling: CrawlApi) -> SourceRuns:
    return SourceRuns(
        store=store,
        crawls=SourceCrawls(crawling.crawl),
        discoveries=SourceDiscoveries(
            discovery_service(
                settings,
                settings,
                plans_table=settings.plans_table,
                enabled=settings.features__enable_url_discovery,
            )
        ),
        webhooks=crawling.webhooks,
        hand_on=relay(settings).relay,
        clock=utc_now,
        new_id=id_maker(utc_now),
    )
