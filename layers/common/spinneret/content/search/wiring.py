"""Adapters of search."""

from dataclasses import dataclass
from typing import Final

from opensearchpy import OpenSearch

from spinneret.aws.clients import lambda_client
from spinneret.aws.opensearch import opensearch_client
from spinneret.aws.secrets_manager import credentials_of
from spinneret.aws.stage import Stage, reads
from spinneret.content.caches.wiring import QUERY_CACHES, query_caches
from spinneret.content.documents.ports import Embedder
from spinneret.content.search import variables
from spinneret.content.search.lambda_embedder import LambdaEmbedder
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_mapping import IndexShape
from spinneret.content.search.service import SearchService
from spinneret.content.search.tei import TeiEmbedder, TeiReranker
from spinneret.content.tags.service import TagService
from spinneret.content.wiring import (
    DOCUMENTS,
    LABELS_TABLE,
    document_store,
    index_record,
    tag_service,
)
from spinneret.kernel.settings import SettingsError, flag, text

RERANKER_URL: Final = text("RERANKER_URL", "")
"""Empty without a reranker, which is a separate model from the embedder."""
RERANKER_SECRET: Final = text("RERANKER_SECRET", "")
"""Name or ARN of a secret with the value of the reranker's Authorization header."""
FEATURES__ENABLE_RERANKER: Final = flag("FEATURES__ENABLE_RERANKER", default=True)
RERANKER: Final = (RERANKER_URL, RERANKER_SECRET, FEATURES__ENABLE_RERANKER)


@dataclass(frozen=True, kw_only=True)
class SearchApi:
    """Services used by the search routes."""

    search: SearchService
    tags: TagService


def embedder(stage: Stage) -> Embedder:
    """Create this stage's embedder; it keeps its connection for the life of the process."""
    url, function = stage[variables.EMBEDDER_URL], stage[variables.EMBEDDER_FUNCTION]
    seconds = stage[variables.TEI__TIMEOUT_S]
    credentials = credentials_of(stage[variables.EMBEDDER_SECRET])
    if url:
        return TeiEmbedder(url, stage.http, seconds=seconds, credentials=credentials)
    if not function:
        raise SettingsError("neither EMBEDDER_URL nor EMBEDDER_FUNCTION names an embedder")
    return LambdaEmbedder(function, lambda_client, seconds=seconds)


def chunk_index(stage: Stage, of: Embedder) -> OpenSearchChunkIndex:
    """Create this stage's index for one embedder's vectors."""
    return OpenSearchChunkIndex(index_client(stage), of, stage.clock)


def written_index(stage: Stage, of: Embedder) -> OpenSearchChunkIndex:
    """Create this stage's index for writing, which may have to create it in OpenSearch."""
    shards, replicas = stage[variables.INDEX_SHARDS], stage[variables.INDEX_REPLICAS]
    shape = IndexShape(shards=shards, replicas=replicas)
    record = index_record(stage)
    return OpenSearchChunkIndex(index_client(stage), of, stage.clock, shape, record=record)


def index_client(stage: Stage) -> OpenSearch:
    """Create a client of this stage's OpenSearch."""
    return opensearch_client(stage[variables.OPENSEARCH_URL], stage[variables.OPENSEARCH_AUTH])


@reads(*variables.SEARCHING, *QUERY_CACHES, *DOCUMENTS, *RERANKER, LABELS_TABLE)
def search_api(stage: Stage) -> SearchApi:
    """Create the services of the search API."""
    model = embedder(stage)
    service = SearchService(
        embedder=model,
        index=chunk_index(stage, model),
        documents=document_store(stage),
        caches=query_caches(stage),
        reranker=_reranker(stage),
        new_id=stage.new_id,
        clock=stage.clock,
    )
    return SearchApi(search=service, tags=tag_service(stage))


def _reranker(stage: Stage) -> TeiReranker | None:
    enabled, url = stage[FEATURES__ENABLE_RERANKER], stage[RERANKER_URL]
    credentials = credentials_of(stage[RERANKER_SECRET])
    if not enabled or not url:
        return None
    return TeiReranker(url, stage.http, credentials=credentials)
