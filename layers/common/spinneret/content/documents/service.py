"""Indexes a page: chunk, embed, index, then commit the new version.

This order hides half-indexed documents: searches drop chunks of versions that no document row
names. Chunks are therefore written first, and one conditional write commits their version.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from spinneret.content import limits
from spinneret.content.chunking.models import USUAL_CHUNKING, Chunk, Chunking
from spinneret.content.documents import rules
from spinneret.content.documents.chunks import Checkpoint, ChunkMaker, VectorCache
from spinneret.content.documents.models import (
    Document,
    DocumentSource,
    EmbedderInfo,
    IndexedChunk,
    Origin,
    UrlLease,
    UrlTaken,
    labels_of,
)
from spinneret.content.documents.ports import (
    ChunkWriter,
    CollectionGone,
    ContentStore,
    DocumentStore,
    Embedder,
    VersionRaced,
)
from spinneret.content.extraction.models import Content
from spinneret.jobs.models import Lease
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import DependencyUnavailable
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

_RACES = 3  # maximum of commits to one page by other jobs meanwhile


@dataclass(frozen=True, kw_only=True)
class DocumentDraft:
    """Content to index and its metadata.

    Fields that are None or empty leave an existing document unchanged; tags are added to its tags.
    """

    tenant: str
    url: str
    url_key: str
    domain: str
    content: Content
    chunking: Chunking = USUAL_CHUNKING
    source: DocumentSource = DocumentSource.CRAWL
    parent_url: str | None = None
    collection_id: str | None = None
    tag_ids: tuple[str, ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin | None = None
    of: Document | None = None
    """The document whose stored text this is, to index it again; it stays deleted if it is."""
    without_collection: bool = False
    """Whether to leave the document's collection because it was deleted meanwhile."""


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """The committed document, and whether its content was unchanged."""

    document: Document
    unchanged: bool


@dataclass(frozen=True, kw_only=True)
class _Claim:
    """Leases that a commit checks: of the job, and of the URL of a fetched page."""

    job: Lease
    url: UrlLease | None


@service
class Indexer:
    """Stores a page and its chunks as the current version of its document."""

    documents: DocumentStore
    contents: ContentStore
    embedder: Embedder
    writer: ChunkWriter
    clock: Clock
    known: VectorCache | None = None
    embed_batch: int = limits.EMBED_BATCH
    """Maximum of texts per embedder call, unless the embedder's limit is lower."""

    def __post_init__(self) -> None:
        self._chunks = ChunkMaker(
            embedder=self.embedder, known=self.known, embed_batch=self.embed_batch
        )

    def index(
        self,
        draft: DocumentDraft,
        lease: Lease,
        checkpoint: Checkpoint,
        remaining: Remaining,
        url: UrlTaken | None = None,
        processing: AbstractContextManager[object] = nullcontext(),  # has no state
    ) -> Indexed:
        """Index a page; skip embedding and indexing of unchanged content.

        `processing` is entered to cut and embed, not to wait for the index and the store. Restores
        a deleted document. A fetched page is committed under the lease of its URL, which ends.
        Raises LeaseLost, UrlLeaseLost, EmbeddingRefused, ContentRefused, DependencyUnavailable and
        what `checkpoint` raises; VersionRaced if the document of a stored text has changed, whose
        text may be older now.
        """
        identity = rules.document_id(draft.tenant, draft.url_key)
        assert url is None or url.lease.document_id == identity  # it moved along redirects
        claim = _Claim(job=lease, url=None if url is None else url.lease)
        current = draft.of
        if current is None:
            current = self.documents.get(draft.tenant, identity) if url is None else url.document
        for _ in range(_RACES):
            try:
                return self._index_once(draft, current, claim, checkpoint, remaining, processing)
            except VersionRaced:
                if draft.of is not None:
                    raise
                logger.info("document_version_raced", extra={"url": draft.url})
                current = self.documents.get(draft.tenant, identity)
            except CollectionGone:
                logger.warning("collection_gone", extra={"url": draft.url})
                draft = replace(draft, without_collection=True)
        raise DependencyUnavailable("dynamodb", "too many versions of one page at once")

    def _index_once(
        self,
        draft: DocumentDraft,
        current: Document | None,
        claim: _Claim,
        checkpoint: Checkpoint,
        remaining: Remaining,
        processing: AbstractContextManager[object],
    ) -> Indexed:
        identity = rules.document_id(draft.tenant, draft.url_key)
        digest = rules.content_hash(draft.content)
        embedder = self._chunks.info(remaining)
        if (
            current is not None
            and current.content_hash == digest
            and current.embedding_model == embedder.model_id
            and current.chunking == draft.chunking
            and draft.of is None
        ):
            return self._seen_again(draft, current, claim, remaining)
        checkpoint("chunking", 40)
        key = self.contents.put(draft.tenant, draft.content.markdown)
        with processing:
            chunks = self._chunks.cut(draft.content.markdown, remaining, draft.chunking)
            document = self._document(
                draft, identity, digest, key, chunks, embedder, current, claim.job
            )
            indexed = self._chunks.indexed(document, chunks, checkpoint, remaining)
        checkpoint("indexing", 90)
        written = self.writer.write(indexed, remaining)
        self.documents.commit(document, current, claim.job, claim.url)
        self._settle(document, indexed, written, remaining)
        return Indexed(document=document, unchanged=False)

    def _seen_again(
        self, draft: DocumentDraft, current: Document, claim: _Claim, remaining: Remaining
    ) -> Indexed:
        now = self.clock()
        document = replace(
            _labelled(current, draft),
            sequence=current.sequence + 1,
            metadata=draft.content.metadata,
            extraction=draft.content.extraction,
            origin=draft.origin,
            crawled_at=now,
            job_id=claim.job.job_id,
        )
        if labels_of(document) != labels_of(current):
            document = replace(document, updated_at=now)
            self.writer.relabel(document, remaining)
        self.documents.commit(document, current, claim.job, claim.url)
        return Indexed(document=document, unchanged=True)

    def _document(
        self,
        draft: DocumentDraft,
        identity: str,
        digest: str,
        content_key: str,
        chunks: Sequence[Chunk],
        embedder: EmbedderInfo,
        current: Document | None,
        lease: Lease,
    ) -> Document:
        now = self.clock()
        sequence = 1 if current is None else current.sequence + 1
        document = Document(
            tenant=draft.tenant,
            id=identity,
            url=draft.url,
            domain=draft.domain,
            title=draft.content.title,
            language=draft.content.language,
            metadata=draft.content.metadata,
            extraction=draft.content.extraction,
            chunking=draft.chunking,
            content_hash=digest,
            content_key=content_key,
            sequence=sequence,
            version=rules.version_name(sequence, digest),
            chunk_count=len(chunks),
            token_count=sum(c.token_count for c in chunks),
            embedding_model=embedder.model_id,
            job_id=lease.job_id,
            created_at=now if current is None else current.created_at,
            crawled_at=now if draft.of is None else draft.of.crawled_at,
            changed_at=current.changed_at if current and current.content_hash == digest else now,
            updated_at=now,
            source=draft.source,
            parent_url=None if current is None else current.parent_url,
            collection_id=None if current is None else current.collection_id,
            tag_ids=() if current is None else current.tag_ids,
            origin=draft.origin,
            annotations={} if current is None else current.annotations,
            deleted_at=None if current is None else current.deleted_at,
        )
        return _labelled(document, draft)

    def _settle(
        self,
        document: Document,
        indexed: Sequence[IndexedChunk],
        written: frozenset[str],
        remaining: Remaining,
    ) -> None:
        """Finish work that the new version doesn't depend on and that reconciliation can repair.

        An index created after the chunks were written may have read the row before the commit. It
        then lacks these chunks.
        """
        try:
            later = self.writer.targets(remaining) - written
            if later:
                self.writer.write(indexed, remaining, later)
            if not rules.is_first(document.version):  # reconciliation finds what a crash left
                self.writer.remove_others(document, remaining)
        except DependencyUnavailable:
            logger.warning("old_version_left", extra={"document_id": document.id})


def _labelled(document: Document, draft: DocumentDraft) -> Document:
    """Return the document with the page's labels, restored unless it is indexed again."""
    return replace(
        document,
        parent_url=draft.parent_url or document.parent_url,
        collection_id=None
        if draft.without_collection
        else draft.collection_id or document.collection_id,
        tag_ids=rules.joined_tags(document.tag_ids, draft.tag_ids),
        annotations=rules.merged(document.annotations, draft.annotations)
        if draft.annotations
        else document.annotations,
        deleted_at=None if draft.of is None else document.deleted_at,
    )
