"""Chooses the adapters of the crawl worker; apart from the API's wiring, whose functions carry
neither the fetcher nor the extractor."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.documents.service import Indexer
from spinneret.content.extraction.pages import extract
from spinneret.content.search.settings import SearchSettings
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.crawl.kinds import CRAWL
from spinneret.crawl.pipeline import CrawlPipeline
from spinneret.crawl.visits import Visits
from spinneret.events.webhooks.wiring import NotifierSettings, notifier
from spinneret.jobs.wiring import worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import host_pace, host_service
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.s3 import S3RobotsStore
from spinneret.web.proxies.wiring import ProxySettings, rotating_fetcher


@dataclass(frozen=True, kw_only=True)
class CrawlWorkerSettings(NotifierSettings, ProxySettings, SearchSettings):
    """The crawl worker's environment.

    Of `user_agent` (name/version plus a contact URL) the product token is what robots.txt is
    matched against.
    """

    documents_table: str
    content_bucket: str


def crawl_worker(env: Mapping[str, str]) -> Worker:
    """A worker for one crawl lane."""
    settings = CrawlWorkerSettings.from_env(env)
    model = embedder(settings)
    indexer = Indexer(
        documents=DynamoDocumentStore(
            dynamodb_client(), settings.documents_table, settings.jobs_table
        ),
        contents=S3ContentStore(s3_client(), settings.content_bucket),
        embedder=model,
        index=chunk_index(settings, model),
        clock=utc_now,
    )
    fetcher = GuardedFetcher(
        policy=address_policy(settings),
        resolver=resolve_by_system,
        user_agent=settings.user_agent,
        monotonic=time.monotonic,
    )
    visits = Visits(
        fetcher=rotating_fetcher(settings, fetcher),
        hosts=host_service(settings),
        pace=host_pace(settings),
        robots=RobotsGate(
            store=S3RobotsStore(s3_client(), settings.content_bucket),
            product_token=product_token_of(settings.user_agent),
            clock=utc_now,
        ),
        clock=utc_now,
        sleep=time.sleep,
    )
    pipeline = CrawlPipeline(visits=visits, extract=extract, indexer=indexer, clock=utc_now)
    return worker(settings, {CRAWL: pipeline}, notifier(settings))
