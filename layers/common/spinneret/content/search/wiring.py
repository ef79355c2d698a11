"""Adapters of search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from spinneret.aws.clients import dynamodb_client, lambda_client
from spinneret.aws.opensearch import opensearch_client
from spinneret.aws.secrets_manager import credentials_of
from spinneret.content.caches.wiring import QueryCacheSettings, caches
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.documents.ports import Embedder
from spinneret.content.search.lambda_embedder import LambdaEmbedder
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import IndexShape
from spinneret.content.search.service import SearchService
from spinneret.content.search.settings import EmbeddingSettings, IndexingSettings, SearchSettings
from spinneret.content.search.tei import TeiEmbedder, TeiReranker
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.kernel.settings import SettingsError


@dataclass(frozen=True, kw_only=True)
class SearchApiSettings(EmbeddingSettings, QueryCacheSettings):
    """Settings of the search API."""

    documents_table: str
    jobs_table: str
    reranker_url: str = ""
    """Empty without a reranker, which is a separate model from the embedder."""
    reranker_secret: str = ""
    """Name or ARN of a secret with the value of the reranker's Authorization header."""
    features__enable_reranker: bool = True


@dataclass(frozen=True, kw_only=True)
class SearchApi:
    """Services used by the search routes."""

    search: SearchService


def embedder(settings: EmbeddingSettings) -> Embedder:
    """Create this stage's embedder; it keeps its connection for the life of the process."""
    seconds = settings.tei__timeout_s
    if not settings.embedder_url:
        if not settings.embedder_function:
            raise SettingsError("neither EMBEDDER_URL nor EMBEDDER_FUNCTION names an embedder")
        return LambdaEmbedder(settings.embedder_function, lambda_client, seconds=seconds)
    client = httpx.Client(trust_env=False)
    credentials = credentials_of(settings.embedder_secret)
    return TeiEmbedder(settings.embedder_url, client, seconds=seconds, credentials=credentials)


def chunk_index(settings: SearchSettings, of: Embedder) -> OpenSearchChunkIndex:
    """Create this stage's index for one embedder's vectors."""
    client = opensearch_client(settings.opensearch_url, settings.opensearch_auth)
    return OpenSearchChunkIndex(client, of, utc_now)


def written_index(settings: IndexingSettings, of: Embedder) -> OpenSearchChunkIndex:
    """Create this stage's index for writing, which may have to create it in OpenSearch."""
    client = opensearch_client(settings.opensearch_url, settings.opensearch_auth)
    shape = IndexShape(shards=settings.index_shards, replicas=settings.index_replicas)
    return OpenSearchChunkIndex(client, of, utc_now, shape)


def search_api(env: Mapping[str, str]) -> SearchApi:
    """Create the services of the search API."""
    settings = SearchApiSettings.from_env(env)
    model = embedder(settings)
    return SearchApi(
        search=SearchService(
            embedder=model,
            index=chunk_index(settings, model),
            documents=DynamoDocumentStore(
                dynamodb_client(), settings.documents_table, settings.jobs_table
            ),
            caches=caches(settings),
            reranker=_reranker(settings),
            new_id=id_maker(utc_now),
        ),
    )


def _reranker(settings: SearchApiSettings) -> TeiReranker | None:
    if not settings.features__enable_reranker or not settings.reranker_url:
        return None
    credentials = credentials_of(settings.reranker_secret)
    client = httpx.Client(trust_env=False)
    return TeiReranker(settings.reranker_url, client, credentials=credentials)
