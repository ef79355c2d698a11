"""Making a page searchable: chunk, embed, index, then show the new version.

The order is what keeps half-indexed documents out of sight: chunks of a version that no document
row names are dropped by every search, so they are written first and shown by one conditional
write at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from spinneret.content.chunking.models import USUAL_CHUNKING, Chunk, Chunking
from spinneret.content.chunking.parts import chunked
from spinneret.content.documents import rules
from spinneret.content.documents.models import Document, EmbedderInfo, IndexedChunk
from spinneret.content.documents.ports import (
    ChunkWriter,
    ContentStore,
    DocumentStore,
    Embedder,
    VersionRaced,
)
from spinneret.content.extraction.models import Content
from spinneret.jobs.models import Lease
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining, stamp
from spinneret.kernel.errors import DependencyUnavailable

logger = logging.getLogger(__name__)

Checkpoint = Callable[[str, int], None]
"""Called with the step's name and the progress in percent; may raise to stop the work."""

_RACES = 3  # jobs that may commit versions of one page meanwhile
_SPECIAL_TOKENS = 2  # [CLS] and [SEP], which the embedder adds to every input


@dataclass(frozen=True, kw_only=True)
class Page:
    """Content and where it comes from."""

    tenant: str
    url: str
    url_key: str
    domain: str
    content: Content
    chunking: Chunking = USUAL_CHUNKING
    collection_id: str | None = None
    """None leaves the document where it is."""
    tag_ids: tuple[str, ...] = ()
    """Added to those that it has."""


@dataclass(frozen=True, kw_only=True)
class Indexed:
    """The document as it is now shown."""

    document: Document
    unchanged: bool


class Indexer:
    """Stores a page and its chunks as the current version of its document."""

    def __init__(
        self,
        *,
        documents: DocumentStore,
        contents: ContentStore,
        embedder: Embedder,
        index: ChunkWriter,
        clock: Clock,
        embed_batch: int = bounds.EMBED_BATCH,
    ) -> None:
        """`embed_batch` texts at most go to the embedder at once, or as many as it takes."""
        self._documents = documents
        self._contents = contents
        self._embedder = embedder
        self._index = index
        self._clock = clock
        self._embed_batch = embed_batch

    def index(
        self, page: Page, lease: Lease, checkpoint: Checkpoint, remaining: Remaining
    ) -> Indexed:
        """Unchanged content is neither embedded nor indexed again.

        Raises LeaseLost, EmbeddingRefused, DependencyUnavailable and what `checkpoint` raises.
        """
        for _ in range(_RACES):
            try:
                return self._index_once(page, lease, checkpoint, remaining)
            except VersionRaced:
                logger.info("document_version_raced", extra={"url": page.url})
        raise DependencyUnavailable("dynamodb", "too many versions of one page at once")

    def _index_once(
        self, page: Page, lease: Lease, checkpoint: Checkpoint, remaining: Remaining
    ) -> Indexed:
        identity = rules.document_id(page.tenant, page.url_key)
        current = self._documents.get(page.tenant, identity)
        digest = rules.content_hash(page.content)
        embedder = self._embedder.info(remaining)
        if (
            current is not None
            and current.content_hash == digest
            and current.embedding_model == embedder.model_id
            and current.chunking == page.chunking
        ):
            return self._seen_again(page, current, lease)
        checkpoint("chunking", 40)
        chunks = self._chunks(page, embedder, remaining)
        document = self._document(page, identity, digest, chunks, embedder, current, lease)
        vectors = self._vectors(chunks, embedder, checkpoint, remaining)
        checkpoint("indexing", 90)
        self._index.write(_indexed(document, chunks, vectors), remaining)
        self._documents.commit(document, current, lease)
        self._forget(current, remaining)
        return Indexed(document=document, unchanged=False)

    def _seen_again(self, page: Page, current: Document, lease: Lease) -> Indexed:
        document = replace(
            current,
            sequence=current.sequence + 1,
            metadata=page.content.metadata,
            extraction=page.content.extraction,
            collection_id=page.collection_id or current.collection_id,
            tag_ids=_all_tags(page, current),
            crawled_at=self._clock(),
            job_id=lease.job_id,
        )
        self._documents.commit(document, current, lease)
        return Indexed(document=document, unchanged=True)

    def _chunks(self, page: Page, embedder: EmbedderInfo, remaining: Remaining) -> list[Chunk]:
        markdown = page.content.markdown
        return chunked(
            markdown,
            rules.counted(self._embedder.tokenize(markdown, remaining), markdown),
            page.chunking.within(embedder.max_input_tokens - _SPECIAL_TOKENS),
            max_bytes=bounds.CHUNK_MAX_BYTES,
        )

    def _vectors(
        self,
        chunks: Sequence[Chunk],
        embedder: EmbedderInfo,
        checkpoint: Checkpoint,
        remaining: Remaining,
    ) -> list[tuple[float, ...]]:
        size = min(self._embed_batch, embedder.max_batch)
        vectors: list[tuple[float, ...]] = []
        for start in range(0, len(chunks), size):
            checkpoint("embedding", 50 + 40 * start // len(chunks))
            texts = list(map(rules.embedded_text, chunks[start : start + size]))
            vectors += self._embedder.embed(texts, remaining)
        return vectors

    def _document(
        self,
        page: Page,
        identity: str,
        digest: str,
        chunks: Sequence[Chunk],
        embedder: EmbedderInfo,
        current: Document | None,
        lease: Lease,
    ) -> Document:
        now = self._clock()
        sequence = 1 if current is None else current.sequence + 1
        return Document(
            tenant=page.tenant,
            id=identity,
            url=page.url,
            domain=page.domain,
            title=page.content.title,
            language=page.content.language,
            metadata=page.content.metadata,
            extraction=page.content.extraction,
            chunking=page.chunking,
            collection_id=page.collection_id or (current.collection_id if current else None),
            tag_ids=_all_tags(page, current),
            content_hash=digest,
            content_key=self._contents.put(page.tenant, page.content.markdown),
            sequence=sequence,
            version=rules.version_name(sequence, digest),
            chunk_count=len(chunks),
            token_count=sum(c.token_count for c in chunks),
            embedding_model=embedder.model_id,
            job_id=lease.job_id,
            created_at=now if current is None else current.created_at,
            crawled_at=now,
            changed_at=now,
        )

    def _forget(self, replaced: Document | None, remaining: Remaining) -> None:
        if replaced is None:
            return
        try:
            self._index.remove_version(replaced.tenant, replaced.id, replaced.version, remaining)
        except DependencyUnavailable:
            # Searches drop these chunks anyhow; they only take room until the index is rebuilt.
            logger.warning("old_version_left", extra={"document_id": replaced.id})


def _all_tags(page: Page, current: Document | None) -> tuple[str, ...]:
    former = current.tag_ids if current else ()
    return tuple(dict.fromkeys([*former, *page.tag_ids]))


def _indexed(
    document: Document, chunks: Sequence[Chunk], vectors: Sequence[tuple[float, ...]]
) -> list[IndexedChunk]:
    return [
        IndexedChunk(
            tenant=document.tenant,
            document_id=document.id,
            version=document.version,
            index=part.index,
            text=part.text,
            section=part.section,
            type=part.type,
            start=part.start,
            end=part.end,
            token_count=part.token_count,
            url=document.url,
            domain=document.domain,
            title=document.title,
            crawled_at=stamp(document.crawled_at),
            vector=vector,
        )
        for part, vector in zip(chunks, vectors, strict=True)
    ]
