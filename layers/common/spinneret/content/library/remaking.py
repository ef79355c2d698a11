"""Recreates a stored document's chunks from its row and body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.models import Document, IndexedChunk, labels_of
from spinneret.content.documents.ports import (
    ChunkWriter,
    ContentStore,
    DocumentStore,
    VersionRaced,
)
from spinneret.kernel.clock import Remaining
from spinneret.kernel.service import service

Put = Callable[[Sequence[IndexedChunk]], object]
"""Writes chunks to the target index."""


@service
class Reindexer:
    """Chunks and embeds stored documents again, keeping their version."""

    documents: DocumentStore
    contents: ContentStore
    chunks: ChunkMaker
    index: ChunkWriter

    def model_id(self, remaining: Remaining) -> str:
        """Return the current embedding model; raise DependencyUnavailable."""
        return self.chunks.info(remaining).model_id

    def remake(self, document: Document, put: Put, remaining: Remaining) -> Document:
        """Write the document's chunks with `put` and update its row if the model changed them.
        Return the updated document.

        Raises KeyError if its body is missing, EmbeddingRefused, ContentRefused and
        DependencyUnavailable.
        """
        markdown = self.contents.get(document.content_key)
        cut = self.chunks.cut(markdown, remaining, document.chunking)
        remade = replace(
            document,
            chunk_count=len(cut),
            token_count=sum(each.token_count for each in cut),
            embedding_model=self.model_id(remaining),
        )
        put(self.chunks.indexed(remade, cut, lambda *_: None, remaining))
        if remade != document:
            self._commit(remade, document)
        self._relabel_if_changed(document, remaining)
        return remade

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """Update the labels of the version's chunks from its current row."""
        current = self.documents.get(document.tenant, document.id)
        if current is not None and current.version == document.version:
            self.index.relabel(current, remaining)

    def _relabel_if_changed(self, document: Document, remaining: Remaining) -> None:
        """Relabel the chunks if labels changed before these chunks were in the index."""
        current = self.documents.get(document.tenant, document.id)
        if current is None or current.version != document.version:
            return
        if labels_of(current) != labels_of(document):
            self.index.relabel(current, remaining)

    def _commit(self, remade: Document, document: Document) -> None:
        # After a lost race the row still names the former model: reconciliation repeats the work.
        with suppress(VersionRaced):
            self.documents.commit(replace(remade, sequence=document.sequence + 1), document)
