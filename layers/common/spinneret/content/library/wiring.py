"""Adapters of the document library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client, s3_client
from spinneret.content.collections.wiring import CollectionSettings, collection_service
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.library.service import LibraryService
from spinneret.content.search.settings import EmbeddingSettings
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.content.tags.wiring import tag_service
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_service
from spinneret.kernel.clock import utc_now


@dataclass(frozen=True, kw_only=True)
class LibrarySettings(JobSettings, EmbeddingSettings, CollectionSettings):
    """Settings of the document routes."""

    content_bucket: str


def library_service(env: Mapping[str, str]) -> LibraryService:
    """Create the document library of this stage."""
    settings = LibrarySettings.from_env(env)
    return LibraryService(
        documents=DynamoDocumentStore(
            dynamodb_client(), settings.documents_table, settings.jobs_table
        ),
        contents=S3ContentStore(s3_client(), settings.content_bucket),
        index=chunk_index(settings, embedder(settings)),
        collections=collection_service(env),
        tags=tag_service(env),
        jobs=job_service(settings),
        clock=utc_now,
    )
