"""Bounds of documents and their chunks, each with its source."""

from typing import Final

from spinneret.kernel import bounds

CHUNK_MAX_BYTES: Final = 10 * 1024  # T-06
EMBED_BATCH: Final = 32  # C-05; also the default max_client_batch_size of TEI

DOCUMENT_TAGS_MAX: Final = 20  # one row each in the index of tags, in a DynamoDB transaction of 100
DOCUMENT_METADATA_BYTES: Final = 16 * 1024  # of JSON: a page of 100 documents must fit a response
REBUILD_PAGE: Final = 20  # documents of a tenant; a lost claim repeats at most these
DOCUMENT_METADATA_LEVELS: Final = 20  # a response can't be written with hundreds of them
VECTORS_PER_READ: Final = 90  # of 1.5 KB: one BatchGetItem has 100 keys
BULK_CHUNKS: Final = 500  # of a rebuild, written at once: some 5 MB
BODY_READERS: Final = 8  # bodies of a bulk that are read and cut at once
UPKEEP_PAGE: Final = 500  # documents, or versions in the index, checked together in a pass
UPKEEP_MARGIN_SECONDS: Final = 60.0  # a pass stops when its function has less time left
STRAY_SECONDS: Final = 3600  # after this, a version without a row belongs to no running job
BODY_KEPT_SECONDS: Final = 24 * 3600  # … and a body without a document is unused
UPKEEP_FINDINGS: Final = 100  # findings in a pass's result; all are logged
DOCUMENTS_PER_BATCH: Final = 50  # S-01
DOCUMENTS_PER_TRANSACTION: Final = 40  # two rows for each job, in one DynamoDB transaction of 100
DOCUMENT_SHOWN_BYTES: Final = 1024 * 1024  # of its text: a response has 6 MB, including its chunks
REBUILD_WORK_SECONDS: Final = 12 * 3600.0  # 100,000 chunks take an hour of embedding
DOCUMENT_MAX_BYTES: Final = 10 * 1024 * 1024  # T-06: size of an upload
PDF_PAGES_MAX: Final = 2000  # some 10 ms each
PARSE_SECONDS: Final = 120.0  # of a PDF or Word file, in a worker's 300 s
DOCX_MAX_BYTES: Final = 32 * 1024 * 1024  # of markup, unpacked; three times an upload
DOCX_MAX_TAGS: Final = 1_000_000  # of its markup: up to 85 µs and 600 bytes each
DELETED_KEPT_SECONDS: Final = 30 * 24 * 3600  # P-14
WRITE_SHARDS: Final = 8  # of a tenant's generation and of a collection's count
PARTS_KEPT_SECONDS: Final = (  # of pages; as long after the crawl's end as its job's rows
    bounds.FRONTIER_SECONDS + bounds.JOB_RETENTION_SECONDS + 5 * 24 * 3600
)
