"""Wire deep crawls except the step that crawls pages."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.crawl.deep.driving import DeepCrawls
from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.ports import JobStore
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import driver
from spinneret.kernel.clock import utc_now
from spinneret.web.exploring.frontier.dynamo import DynamoFrontierStore
from spinneret.web.exploring.frontier.service import Frontier


@dataclass(frozen=True, kw_only=True)
class FrontierSettings(JobSettings):
    """Settings of the frontier table."""

    frontier_table: str


@dataclass(frozen=True, kw_only=True)
class DeepCrawlSettings(FrontierSettings):
    """Limits on the deep crawls of a stage."""

    features__max_concurrent_deep_crawls: int = 5
    deep_crawl_segment_batches: int = 80


def frontier(settings: FrontierSettings) -> Frontier:
    """Build the frontier of this stage."""
    return Frontier(
        store=DynamoFrontierStore(dynamodb_client(), settings.frontier_table), clock=utc_now
    )


def deep_crawls(settings: DeepCrawlSettings, store: JobStore) -> DeepCrawls:
    """Build the driving step of deep crawls."""
    return DeepCrawls(
        driver=driver(settings, store),
        frontier=frontier(settings),
        slots=DynamoSemaphore(dynamodb_client(), settings.frontier_table),
        clock=utc_now,
        at_once=settings.features__max_concurrent_deep_crawls,
        segment_batches=settings.deep_crawl_segment_batches,
    )
