"""Chooses the adapters of the crawl worker; apart from the API's wiring, whose functions carry
neither the fetcher nor the extractor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.documents.service import Indexer
from spinneret.content.extraction.pages import extract
from spinneret.content.search.settings import SearchSettings
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.crawl.batches import BatchHandler
from spinneret.crawl.kinds import CRAWL, CRAWL_BATCH
from spinneret.crawl.pipeline import CrawlPipeline
from spinneret.events.webhooks.wiring import NotifierSettings, notifier
from spinneret.jobs.wiring import children, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.wiring import PoliteFetchSettings, polite_fetcher


@dataclass(frozen=True, kw_only=True)
class CrawlWorkerSettings(NotifierSettings, PoliteFetchSettings, SearchSettings):
    """The crawl worker's environment."""

    documents_table: str


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
    pipeline = CrawlPipeline(
        fetcher=polite_fetcher(settings), extract=extract, indexer=indexer, clock=utc_now
    )
    notify = notifier(settings)
    batches = BatchHandler(children(settings, notify))
    return worker(settings, {CRAWL: pipeline, CRAWL_BATCH: batches}, notify)
