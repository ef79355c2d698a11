"""Adapters of the document library."""

from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.library.service import LibraryService
from spinneret.content.search.variables import SEARCHING
from spinneret.content.search.wiring import chunk_index, embedder
from spinneret.content.wiring import (
    LABELS,
    collection_service,
    content_store,
    document_store,
    tag_service,
)
from spinneret.jobs.wiring import SUBMISSION, job_service, job_waits


@reads(*SUBMISSION, *SEARCHING, *LABELS, CONTENT_BUCKET)
def library_service(stage: Stage) -> LibraryService:
    """Create the document library of this stage."""
    return LibraryService(
        documents=document_store(stage),
        contents=content_store(stage),
        index=chunk_index(stage, embedder(stage)),
        collections=collection_service(stage),
        tags=tag_service(stage),
        jobs=job_service(stage),
        waits=job_waits(stage),
        clock=stage.clock,
    )
