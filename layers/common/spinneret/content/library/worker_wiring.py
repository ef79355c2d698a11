"""Adapters of the document workers. Separate from the API's wiring, whose functions don't package
the file readers."""

from spinneret.aws.stage import Stage, reads
from spinneret.content.caches.service import CachedVectors
from spinneret.content.caches.wiring import chunk_caches
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.dynamo_scan import DynamoDocumentScan
from spinneret.content.documents.ports import Embedder
from spinneret.content.library.filling import IndexFiller
from spinneret.content.library.kinds import REBUILD, REBUILD_STAGE, REINDEX, TAG, UPLOAD
from spinneret.content.library.pipeline import (
    RebuildPipeline,
    ReindexPipeline,
    TagPipeline,
    UploadPipeline,
)
from spinneret.content.library.rebuilding import IndexRebuild, RebuildRequests
from spinneret.content.library.remaking import Reindexer
from spinneret.content.library.upkeep import DocumentMaintenance
from spinneret.content.search.opensearch import OpenSearchChunkIndex
from spinneret.content.search.opensearch_upkeep import OpenSearchUpkeep
from spinneret.content.search.variables import TEI__BATCH_SIZE
from spinneret.content.search.wiring import embedder, index_client, written_index
from spinneret.content.wiring import DOCUMENTS_TABLE, content_store, document_store, index_record
from spinneret.content.worker_wiring import INDEXING, indexer
from spinneret.events.wiring import RELAY, relaying_store
from spinneret.jobs.wiring import SUBMISSION, job_service, worker
from spinneret.jobs.worker import Handler, Worker


@reads(*RELAY, *INDEXING)
def documents_worker(stage: Stage) -> Worker:
    """Create a worker for the document lanes."""
    model = embedder(stage)
    index = written_index(stage, model)
    documents, contents = document_store(stage), content_store(stage)
    indexing = indexer(stage, model, index)
    remaker, upkeep = _reindexer(stage, model, index), OpenSearchUpkeep(index_client(stage), index)
    handlers: dict[str, Handler] = {
        UPLOAD: UploadPipeline(contents=contents, indexer=indexing),
        REINDEX: ReindexPipeline(documents=documents, contents=contents, indexer=indexing),
        TAG: TagPipeline(documents=documents, index=index, clock=stage.clock),
        REBUILD: RebuildPipeline(documents=documents, remaker=remaker, index=index),
        REBUILD_STAGE: IndexRebuild(
            scan=DynamoDocumentScan(stage.dynamodb, stage[DOCUMENTS_TABLE]),
            upkeep=upkeep,
            filler=IndexFiller(remaker=remaker, upkeep=upkeep),
            record=index_record(stage),
        ),
    }
    return worker(stage, handlers, relaying_store(stage))


@reads(*SUBMISSION)
def rebuild_requests(stage: Stage) -> RebuildRequests:
    """Create the service that begins and shows rebuilds of the stage's index."""
    return RebuildRequests(jobs=job_service(stage))


def _reindexer(stage: Stage, model: Embedder, index: OpenSearchChunkIndex) -> Reindexer:
    known = CachedVectors(caches=chunk_caches(stage))
    return Reindexer(
        documents=document_store(stage),
        contents=content_store(stage),
        chunks=ChunkMaker(embedder=model, known=known, embed_batch=stage[TEI__BATCH_SIZE]),
        index=index,
    )


@reads(*INDEXING)
def document_maintenance(stage: Stage) -> DocumentMaintenance:
    """Create the maintenance passes over all documents."""
    model = embedder(stage)
    index = written_index(stage, model)
    upkeep = OpenSearchUpkeep(index_client(stage), index)
    return DocumentMaintenance(
        scan=DynamoDocumentScan(stage.dynamodb, stage[DOCUMENTS_TABLE]),
        documents=document_store(stage),
        contents=content_store(stage),
        filler=IndexFiller(remaker=_reindexer(stage, model, index), upkeep=upkeep),
        index=index,
        upkeep=upkeep,
        record=index_record(stage),
        clock=stage.clock,
        new_id=stage.new_id,
    )
