"""Adapters of the document workers. Separate from the API's wiring, whose functions don't package
the file readers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.aws.opensearch import opensearch_client
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import ChunkCacheSettings, caches
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.dynamo_scan import DynamoDocumentScan
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.documents.service import Indexer
from spinneret.content.library.kinds import REBUILD, REINDEX, UPLOAD
from spinneret.content.library.pipeline import RebuildPipeline, ReindexPipeline, UploadPipeline
from spinneret.content.library.remaking import Reindexer
from spinneret.content.library.upkeep import DocumentMaintenance, RebuildResult, ReconcileResult
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from spinneret.content.search.settings import IndexingSettings
from spinneret.content.search.wiring import embedder, written_index
from spinneret.events.wiring import RelaySettings, relay
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import ending_store, worker
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.clock import Remaining, utc_now
from spinneret.kernel.ids import id_maker


@dataclass(frozen=True, kw_only=True)
class DocumentsWorkerSettings(RelaySettings, JobSettings, IndexingSettings, ChunkCacheSettings):
    """Settings of the document workers."""

    documents_table: str
    content_bucket: str


def documents_worker(env: Mapping[str, str]) -> Worker:
    """Create a worker for the document lanes."""
    settings = DocumentsWorkerSettings.from_env(env)
    model = embedder(settings)
    documents = DynamoDocumentStore(
        dynamodb_client(), settings.documents_table, settings.jobs_table
    )
    contents = S3ContentStore(s3_client(), settings.content_bucket)
    index = written_index(settings, model)
    known = CachedVectors(caches=caches(settings))
    indexer = Indexer(
        documents=documents,
        contents=contents,
        embedder=model,
        index=index,
        clock=utc_now,
        known=known,
        embed_batch=settings.tei__batch_size,
    )
    handlers: dict[str, Handler] = {
        UPLOAD: UploadPipeline(contents=contents, indexer=indexer),
        REINDEX: ReindexPipeline(documents=documents, contents=contents, indexer=indexer),
        REBUILD: RebuildPipeline(
            documents=documents,
            remaker=Reindexer(
                documents=documents,
                contents=contents,
                chunks=ChunkMaker(
                    embedder=model, known=known, embed_batch=settings.tei__batch_size
                ),
                index=index,
            ),
            index=index,
        ),
    }
    return worker(settings, handlers, ending_store(settings, relay(settings).relay))


@dataclass(frozen=True, kw_only=True)
class UpkeepSettings(IndexingSettings, ChunkCacheSettings):
    """Settings of the maintenance passes over all documents."""

    documents_table: str
    jobs_table: str
    content_bucket: str


def rebuild_pass(env: Mapping[str, str]) -> Callable[[Remaining], RebuildResult]:
    """Create the pass that rebuilds the index."""
    return _upkeep(env).rebuild


def reconcile_pass(env: Mapping[str, str]) -> Callable[[Remaining], ReconcileResult]:
    """Create the pass that reconciles."""
    return _upkeep(env).reconcile


def _upkeep(env: Mapping[str, str]) -> DocumentMaintenance:
    settings = UpkeepSettings.from_env(env)
    model = embedder(settings)
    index = written_index(settings, model)
    client = dynamodb_client()
    documents = DynamoDocumentStore(client, settings.documents_table, settings.jobs_table)
    contents = S3ContentStore(s3_client(), settings.content_bucket)
    return DocumentMaintenance(
        scan=DynamoDocumentScan(client, settings.documents_table),
        documents=documents,
        contents=contents,
        remaker=Reindexer(
            documents=documents,
            contents=contents,
            chunks=ChunkMaker(
                embedder=model,
                known=CachedVectors(caches=caches(settings)),
                embed_batch=settings.tei__batch_size,
            ),
            index=index,
        ),
        index=index,
        upkeep=OpenSearchUpkeep(
            opensearch_client(settings.opensearch_url, settings.opensearch_auth), index
        ),
        clock=utc_now,
        new_id=id_maker(utc_now),
    )
