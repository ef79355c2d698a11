"""Services of sources, for their routes and for the rule that runs every minute."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from spinneret.aws.stage import Stage, reads
from spinneret.content.wiring import LABELS_TABLE
from spinneret.crawl.wiring import PLANS_TABLE, CrawlApi, crawl_api
from spinneret.discovery.wiring import discovery_service
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.wiring import relay
from spinneret.jobs.wiring import EVENTS_TABLE
from spinneret.sources import limits
from spinneret.sources.dynamo import DynamoSourceStore
from spinneret.sources.running import SourceRuns, SourceTickResult
from spinneret.sources.service import SourceService
from spinneret.sources.source_adapters import SourceCrawls, SourceDiscoveries
from spinneret.web.fetching.wiring import address_policy


@dataclass(frozen=True, kw_only=True)
class SourceApi:
    """Services that the routes of sources use."""

    sources: SourceService
    webhooks: WebhookService


@reads(*crawl_api.reads, *discovery_service.reads)
def source_api(stage: Stage) -> SourceApi:
    """Build the services for the routes of sources."""
    crawling = crawl_api(stage)
    service = SourceService(
        store=_store(stage),
        source_runs=_runs(stage, crawling),
        policy=address_policy(stage),
        webhooks=crawling.webhooks,
        clock=stage.clock,
        new_id=stage.new_id,
    )
    return SourceApi(sources=service, webhooks=crawling.webhooks)


@reads(*crawl_api.reads, *discovery_service.reads)
def source_pass(stage: Stage) -> Callable[[], SourceTickResult]:
    """Return the pass over due sources that their rule starts."""
    runs = _runs(stage, crawl_api(stage))

    def tick() -> SourceTickResult:
        until = time.monotonic() + limits.SOURCE_TICK_SECONDS
        return runs.tick(lambda: time.monotonic() < until)

    return tick


def _store(stage: Stage) -> DynamoSourceStore:
    tables = stage[PLANS_TABLE], stage[LABELS_TABLE], stage[EVENTS_TABLE]
    return DynamoSourceStore(stage.dynamodb, *tables)


def _runs(stage: Stage, crawling: CrawlApi) -> SourceRuns:
    return SourceRuns(
        store=_store(stage),
        crawls=SourceCrawls(crawling.crawl, crawling.deep),
        discoveries=SourceDiscoveries(discovery_service(stage)),
        webhooks=crawling.webhooks,
        relay_events=relay(stage).relay,
        clock=stage.clock,
        new_id=stage.new_id,
    )
