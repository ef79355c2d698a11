"""Chooses the adapters of the workers on documents; apart from the API's wiring, whose functions
don't carry the readers of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import CacheSettings, caches
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.documents.service import Indexer
from spinneret.content.library.kinds import REINDEX, UPLOAD
from spinneret.content.library.pipeline import ReindexPipeline, UploadPipeline
from spinneret.content.search.settings import SearchSettings
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.events.webhooks.wiring import NotifierSettings, notifier
from spinneret.jobs.wiring import worker
from spinneret.jobs.worker import Handler, Worker
from spinneret.kernel.clock import utc_now


@dataclass(frozen=True, kw_only=True)
class DocumentsWorkerSettings(NotifierSettings, SearchSettings, CacheSettings):
    """The environment of the workers on documents."""

    documents_table: str
    content_bucket: str


def documents_worker(env: Mapping[str, str]) -> Worker:
    """A worker for the lanes of documents."""
    settings = DocumentsWorkerSettings.from_env(env)
    model = embedder(settings)
    documents = DynamoDocumentStore(
        dynamodb_client(), settings.documents_table, settings.jobs_table
    )
    contents = S3ContentStore(s3_client(), settings.content_bucket)
    indexer = Indexer(
        documents=documents,
        contents=contents,
        embedder=model,
        index=chunk_index(settings, model),
        clock=utc_now,
        known=CachedVectors(caches(settings)),
    )
    handlers: dict[str, Handler] = {
        UPLOAD: UploadPipeline(contents=contents, indexer=indexer),
        REINDEX: ReindexPipeline(documents=documents, contents=contents, indexer=indexer),
    }
    return worker(settings, handlers, notifier(settings))
