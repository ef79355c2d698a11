"""Rows of documents, as stored in all releases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spinneret.content.chunking.models import Chunking, ChunkingStrategy
from spinneret.content.documents.items import DOCUMENTS
from spinneret.content.documents.models import DocumentSource, Origin
from spinneret.content.extraction.models import Extraction, Metadata, PageType
from tests import factories
from tests.contract.exact_rows import check_row
from tests.fakes.time import START
from tests.rows import each_row

DOCUMENT = factories.document(title=None)
ROW = {
    "pk": "T#acme#DOC#doc_1",
    "tenant": "acme",
    "id": "doc_1",
    "url": "https://site.example/page",
    "domain": "site.example",
    "language": "en",
    "metadata": '{"author": null, "publish_date": null, "description": null, "keywords": [],'
    ' "og_image": null, "canonical_url": null}',
    "content_hash": "0" * 64,
    "content_key": "T/acme/content/0.md",
    "sequence": 1,
    "version": "000001-000000000000",
    "chunk_count": 1,
    "token_count": 3,
    "embedding_model": "fake",
    "job_id": "job_1",
    "created_at": "2026-01-02T12:00:00.000000Z",
    "crawled_at": "2026-01-02T12:00:00.000000Z",
    "changed_at": "2026-01-02T12:00:00.000000Z",
    "updated_at": "2026-01-02T12:00:00.000000Z",
    "source": "crawl",
    "tag_ids": [],
    "annotations": "{}",
    "list_id": "2026-01-02T12:00:00.000000Z#doc_1",
    "list_key": "T#acme#DOCUMENTS",
    "host_key": "T#acme#HOST#site.example",
}
FULL_DOCUMENT = factories.document(
    title="Tïtle",
    metadata=Metadata(
        author="Ä",
        publish_date="2026-01-01",
        description="d",
        keywords=("a", "ö"),
        og_image="i",
        canonical_url="c",
    ),
    extraction=Extraction(engine="trafilatura", agreement=0.93, page_type=PageType.ARTICLE),
    chunking=Chunking(strategy=ChunkingStrategy.BY_HEADING, size=100, overlap=5, minimum=7),
    source=DocumentSource.UPLOAD,
    parent_url="https://p/",
    collection_id="col_1",
    tag_ids=("tag_2", "tag_1"),
    annotations={"ü": [1.5, None, {"x": True}]},
    origin=Origin(asked="ä", headers={"etag": "x"}, media_type="text/html", parts_key="k"),
)
FULL_ROW = {
    **ROW,
    "title": "Tïtle",
    "metadata": '{"author": "Ä", "publish_date": "2026-01-01", "description": "d",'
    ' "keywords": ["a", "ö"], "og_image": "i", "canonical_url": "c"}',
    "extraction": '{"engine": "trafilatura", "agreement": 0.93, "page_type": "article"}',
    "chunking": {"strategy": "by_heading", "size": 100, "overlap": 5, "minimum": 7},
    "source": "upload",
    "parent_url": "https://p/",
    "collection_id": "col_1",
    "collection_key": "T#acme#COLLECTION#col_1",
    "tag_ids": ["tag_2", "tag_1"],
    "annotations": '{"ü": [1.5, null, {"x": true}]}',
    "origin": '{"asked": "ä", "headers": {"etag": "x"}, "media_type": "text/html",'
    ' "parts_key": "k"}',
}
DELETED_ROW = {
    name: value for name, value in FULL_ROW.items() if name not in ("host_key", "collection_key")
} | {"deleted_at": "2026-01-03T12:00:00.000000Z", "list_key": "T#acme#DELETED"}


@each_row(
    [
        ("a document", (DOCUMENTS, DOCUMENT, ROW)),
        ("a document with everything", (DOCUMENTS, FULL_DOCUMENT, FULL_ROW)),
        (
            "a deleted document",
            (
                DOCUMENTS,
                replace(FULL_DOCUMENT, deleted_at=START + timedelta(days=1)),
                DELETED_ROW,
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)
