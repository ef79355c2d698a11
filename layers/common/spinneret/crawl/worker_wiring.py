"""Wire the crawl worker.

This module is separate from the API's wiring, whose functions ship neither the fetcher nor the
extractor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client, s3_client, stepfunctions_client
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import ChunkCacheSettings, caches
from spinneret.content.collections.wiring import CollectionSettings
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.documents.service import Indexer
from spinneret.content.extraction.pages import extract
from spinneret.content.search.settings import IndexingSettings
from spinneret.content.search.wiring import embedder, written_index
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.configs.wiring import ConfigSettings, header_seal
from spinneret.crawl.deep.pages import PageStep
from spinneret.crawl.deep.wiring import (
    DeepCrawlSettings,
    FrontierSettings,
    deep_crawls,
    frontier,
)
from spinneret.crawl.inbox.handler import FileHandler
from spinneret.crawl.inbox.wiring import InboxBucketSettings, inbox_store
from spinneret.crawl.kinds import CRAWL, CRAWL_BATCH, CRAWL_FILE, DEEP_CRAWL
from spinneret.crawl.known import KnownPages
from spinneret.crawl.pages import CrawlPages
from spinneret.crawl.pipeline import CrawlPipeline
from spinneret.crawl.s3 import S3FetchCache
from spinneret.crawl.s3_parts import S3PartStore
from spinneret.crawl.settings import PageWorkSettings, WorkSettings
from spinneret.crawl.url_leases import UrlLeases
from spinneret.crawl.wiring import crawl_checks
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.driven.starting import Starter
from spinneret.jobs.driven.stepfunctions import StepFunctionsExecutions
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import children, driver, ending_store, pushing_store, worker
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.wiring import PoliteFetchSettings, polite_fetcher


@dataclass(frozen=True, kw_only=True)
class PageSettings(
    PoliteFetchSettings, IndexingSettings, ChunkCacheSettings, JobSettings, PageWorkSettings
):
    """Settings for crawling a page."""

    documents_table: str


@dataclass(frozen=True, kw_only=True)
class CrawlWorkerSettings(
    PageSettings,
    ConfigSettings,
    DeepCrawlSettings,
    CollectionSettings,
    InboxBucketSettings,
    RelaySettings,
    WorkSettings,
):
    """Environment variables of the crawl worker."""

    deep_crawl_machine: str


@dataclass(frozen=True, kw_only=True)
class PageStepSettings(PageSettings, FrontierSettings):
    """Environment variables of the step that crawls a page."""


def crawl_worker(env: Mapping[str, str]) -> Worker:
    """Build a worker of one crawl lane."""
    settings = CrawlWorkerSettings.from_env(env)
    store = ending_store(settings, relay(settings).relay)
    executions = StepFunctionsExecutions(stepfunctions_client(), settings.deep_crawl_machine)
    makes = children(settings, store, settings.kinds)
    handlers: dict[str, Handler] = {
        CRAWL: _pipeline(settings),
        CRAWL_BATCH: BatchHandler(makes),
        CRAWL_FILE: FileHandler(
            store=inbox_store(settings), checks=crawl_checks(settings, env), children=makes
        ),
        DEEP_CRAWL: Starter(executions=executions, prepare=deep_crawls(settings, store).prepare),
    }
    return worker(settings, handlers, store, settings.kinds)


def page_step(env: Mapping[str, str]) -> PageStep:
    """Build the step of a deep crawl that crawls one page."""
    settings = PageStepSettings.from_env(env)
    return PageStep(
        driver=driver(settings, pushing_store(settings)),
        frontier=frontier(settings),
        pipeline=_pipeline(settings),
        clock=utc_now,
        new_owner=lambda: uuid4().hex,
        product_token=product_token_of(settings.user_agent),
    )


def _pipeline(settings: PageSettings) -> CrawlPipeline:
    model = embedder(settings)
    documents = DynamoDocumentStore(
        dynamodb_client(), settings.documents_table, settings.jobs_table
    )
    contents = S3ContentStore(s3_client(), settings.content_bucket)
    parts = S3PartStore(s3_client(), settings.content_bucket)
    indexer = Indexer(
        documents=documents,
        contents=contents,
        embedder=model,
        index=written_index(settings, model),
        clock=utc_now,
        embed_batch=settings.tei__batch_size,
        known=CachedVectors(caches=caches(settings)),
    )
    pages = CrawlPages(
        fetcher=polite_fetcher(settings),
        cache=S3FetchCache(s3_client(), settings.content_bucket),
        seal=header_seal(settings),
        known=KnownPages(contents=contents, parts=parts).find,
        clock=utc_now,
        kept_seconds=settings.cache__crawl_ttl_s,
    )
    urls = UrlLeases(documents=documents, clock=utc_now)
    return CrawlPipeline(urls=urls, pages=pages, extract=extract, parts=parts, indexer=indexer)
