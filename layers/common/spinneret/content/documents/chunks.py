"""Splits a document's text into chunks and embeds them for the index."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from spinneret.content import limits
from spinneret.content.caches.models import KnownVectors
from spinneret.content.chunking.models import USUAL_CHUNKING, Chunk, Chunking
from spinneret.content.chunking.parts import chunked
from spinneret.content.documents import rules
from spinneret.content.documents.models import Document, EmbedderInfo, IndexedChunk, labels_of
from spinneret.content.documents.ports import Embedder
from spinneret.content.documents.signatures import signature
from spinneret.content.vectors import Vector
from spinneret.kernel.clock import Remaining, to_iso
from spinneret.kernel.service import service

Checkpoint = Callable[[str, int], None]
"""Called with a step's name and the progress in percent; may raise to stop the work."""

_SPECIAL_TOKENS = 2  # the embedder adds [CLS] and [SEP] to every input


class VectorCache(Protocol):
    """Vectors recently computed for a tenant's texts. An unavailable cache counts as empty."""

    def find(self, tenant: str, model_id: str, texts: Sequence[str]) -> KnownVectors:
        """Return vectors by text; unknown texts are skipped."""


@service
class ChunkMaker:
    """Splits and embeds texts; the same text and model give the same chunks."""

    embedder: Embedder
    known: VectorCache | None = None
    embed_batch: int = limits.EMBED_BATCH
    """Most texts in one call of the embedder, which may take fewer."""

    def info(self, remaining: Remaining) -> EmbedderInfo:
        """Return the embedder's properties; raise DependencyUnavailable."""
        return self.embedder.info(remaining)

    def cut(
        self, markdown: str, remaining: Remaining, chunking: Chunking = USUAL_CHUNKING
    ) -> list[Chunk]:
        """Split Markdown into chunks. Raise DependencyUnavailable or EmbeddingRefused."""
        window = self.info(remaining).max_input_tokens - _SPECIAL_TOKENS
        return chunked(
            markdown,
            rules.counted(self.embedder.tokenize(markdown, remaining), markdown),
            chunking.within(window),
            max_bytes=limits.CHUNK_MAX_BYTES,
        )

    def indexed(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        checkpoint: Checkpoint,
        remaining: Remaining,
    ) -> list[IndexedChunk]:
        """Embed chunks for the index. Raise DependencyUnavailable, EmbeddingRefused or what
        `checkpoint` raises."""
        return self.indexed_all([(document, chunks)], checkpoint, remaining)

    def indexed_all(
        self,
        cuts: Sequence[tuple[Document, Sequence[Chunk]]],
        checkpoint: Checkpoint,
        remaining: Remaining,
    ) -> list[IndexedChunk]:
        """Embed the chunks of several documents as `indexed`."""
        model_id = self.info(remaining).model_id
        texts: dict[str, dict[str, None]] = {}
        for document, chunks in cuts:
            of_tenant = texts.setdefault(document.tenant, {})
            of_tenant |= dict.fromkeys(map(rules.embedded_text, chunks))
        vectors = {
            tenant: self._vectors(tenant, model_id, list(of_tenant), checkpoint, remaining)
            for tenant, of_tenant in texts.items()
        }
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
                source=document.source,
                language=document.language,
                model=model_id,
                signature=signature(part.text),
                changed_at=to_iso(document.changed_at),
                labels=labels_of(document),
                vector=vectors[document.tenant][rules.embedded_text(part)],
            )
            for document, chunks in cuts
            for part in chunks
        ]

    def _vectors(
        self,
        tenant: str,
        model_id: str,
        texts: Sequence[str],
        checkpoint: Checkpoint,
        remaining: Remaining,
    ) -> Mapping[str, Vector]:
        """Return the vectors of distinct texts: known ones, and the others from the embedder."""
        vectors: dict[str, Vector] = {}
        known: KnownVectors | None = None
        if self.known is not None:
            for start in range(0, len(texts), limits.VECTORS_PER_READ):
                part = texts[start : start + limits.VECTORS_PER_READ]
                known = self.known.find(tenant, model_id, part)
                vectors |= known.vectors
        new = [text for text in texts if text not in vectors]
        size = min(self.embed_batch, self.info(remaining).max_batch)
        for start in range(0, len(new), size):
            checkpoint("embedding", 50 + 40 * start // len(new))
            batch = new[start : start + size]
            made = dict(zip(batch, self.embedder.embed(batch, remaining), strict=True))
            if known is not None:
                known.keep(made)
            vectors |= made
        return vectors
