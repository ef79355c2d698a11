"""Making a stored document's chunks again, from its row and its body."""

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

Put = Callable[[Sequence[IndexedChunk]], object]
"""Writes chunks where they are wanted."""


class Reindexer:
    """Cuts and embeds stored documents again, under the version that they have."""

    def __init__(
        self,
        *,
        documents: DocumentStore,
        contents: ContentStore,
        chunks: ChunkMaker,
        index: ChunkWriter,
    ) -> None:
        self._documents = documents
        self._contents = contents
        self._chunks = chunks
        self._index = index

    def model_id(self, remaining: Remaining) -> str:
        """The model that embeds at present; raises DependencyUnavailable."""
        return self._chunks.info(remaining).model_id

    def remake(self, document: Document, put: Put, remaining: Remaining) -> Document:
        """Write its chunks by `put`, and what another model has changed of them into its row; the
        document with as many chunks as it has now.

        Raises KeyError where its body is gone, EmbeddingRefused, ContentRefused and
        DependencyUnavailable.
        """
        markdown = self._contents.get(document.content_key)
        cut = self._chunks.cut(markdown, remaining, document.chunking)
        remade = replace(
            document,
            chunk_count=len(cut),
            token_count=sum(each.token_count for each in cut),
            embedding_model=self.model_id(remaining),
        )
        put(self._chunks.indexed(remade, cut, lambda *_: None, remaining))
        if remade != document:
            self._commit(remade, document)
        self._relabel_if_changed(document, remaining)
        return remade

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """Give the chunks of its version the labels that its row has by now."""
        current = self._documents.get(document.tenant, document.id)
        if current is not None and current.version == document.version:
            self._index.relabel(current, remaining)

    def _relabel_if_changed(self, document: Document, remaining: Remaining) -> None:
        """Whoever changed its labels meanwhile has relabelled the index before these chunks were
        in it."""
        current = self._documents.get(document.tenant, document.id)
        if current is None or current.version != document.version:
            return
        if labels_of(current) != labels_of(document):
            self._index.relabel(current, remaining)

    def _commit(self, remade: Document, document: Document) -> None:
        # Where it raced, its row still names the former model: reconciliation makes it again.
        with suppress(VersionRaced):
            self._documents.commit(replace(remade, sequence=document.sequence + 1), document)
