"""Adapters of documents, collections and tags."""

from typing import Final

from spinneret.aws.stage import CONTENT_BUCKET, Stage, reads
from spinneret.content.collections.dynamo import DynamoCollectionStore
from spinneret.content.collections.service import CollectionService
from spinneret.content.documents.dynamo import DynamoDocumentStore, DynamoIndexRecord
from spinneret.content.documents.s3 import S3ContentStore
from spinneret.content.tags.dynamo import DynamoTagStore
from spinneret.content.tags.service import TagService
from spinneret.jobs.wiring import JOBS_TABLE
from spinneret.kernel.settings import text

DOCUMENTS_TABLE: Final = text("DOCUMENTS_TABLE")
LABELS_TABLE: Final = text("LABELS_TABLE")
LABELS: Final = (LABELS_TABLE, DOCUMENTS_TABLE)
DOCUMENTS: Final = (DOCUMENTS_TABLE, JOBS_TABLE)


def document_store(stage: Stage) -> DynamoDocumentStore:
    """Create the store of documents."""
    return DynamoDocumentStore(stage.dynamodb, stage[DOCUMENTS_TABLE], stage[JOBS_TABLE])


def index_record(stage: Stage) -> DynamoIndexRecord:
    """Create the record of the indexes that searches have used."""
    return DynamoIndexRecord(stage.dynamodb, stage[DOCUMENTS_TABLE])


def content_store(stage: Stage) -> S3ContentStore:
    """Create the store of bodies."""
    return S3ContentStore(stage.s3, stage[CONTENT_BUCKET])


@reads(*LABELS)
def collection_service(stage: Stage) -> CollectionService:
    """Create the collection service of this stage."""
    store = DynamoCollectionStore(stage.dynamodb, stage[LABELS_TABLE], stage[DOCUMENTS_TABLE])
    return CollectionService(store=store, clock=stage.clock, new_id=stage.new_id)


@reads(LABELS_TABLE)
def tag_service(stage: Stage) -> TagService:
    """Create the tag service of this stage."""
    store = DynamoTagStore(stage.dynamodb, stage[LABELS_TABLE])
    return TagService(store=store, clock=stage.clock, new_id=stage.new_id)
