"""Adapters of functions that write documents. Separate from the API's wiring, whose functions
package no extractor."""

from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import CHUNK_CACHE, chunk_caches
from spinneret.content.documents.ports import ChunkWriter, Embedder
from spinneret.content.documents.service import Indexer
from spinneret.content.search.variables import TEI__BATCH_SIZE, WRITING
from spinneret.content.wiring import DOCUMENTS, content_store, document_store

INDEXING: Final = (*WRITING, *CHUNK_CACHE, *DOCUMENTS, CONTENT_BUCKET)


def indexer(stage: Stage, model: Embedder, index: ChunkWriter) -> Indexer:
    """Create the service that stores documents and their chunks."""
    return Indexer(
        documents=document_store(stage),
        contents=content_store(stage),
        embedder=model,
        writer=index,
        clock=stage.clock,
        known=CachedVectors(caches=chunk_caches(stage)),
        embed_batch=stage[TEI__BATCH_SIZE],
    )
