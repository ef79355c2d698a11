"""Recreates stored documents' chunks from their rows and bodies, many at a time."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace

from spinneret.content import limits
from spinneret.content.chunking.models import Chunk
from spinneret.content.documents.chunks import ChunkMaker
from spinneret.content.documents.models import Document, IndexedChunk, labels_of
from spinneret.content.documents.ports import (
    ChunkWriter,
    ContentStore,
    DocumentStore,
    VersionRaced,
)
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import PermanentError
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)

Put = Callable[[Sequence[IndexedChunk]], object]
"""Writes chunks to the target index."""

Cuts = Sequence[tuple[Document, list[Chunk]]]
"""Documents and the chunks of their texts."""


@dataclass(frozen=True, kw_only=True)
class Remade:
    """Result of remaking documents."""

    documents: tuple[Document, ...]
    """Updated documents."""
    lost: tuple[Document, ...] = field(default=())
    """Documents whose text is missing or can't be embedded or indexed."""


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

    def cut(self, documents: Sequence[Document], remaining: Remaining) -> Cuts:
        """Read the texts and cut them, several at once.

        Raises KeyError for a missing body, EmbeddingRefused and DependencyUnavailable.
        """

        def cut(document: Document) -> list[Chunk]:
            markdown = self.contents.get(document.content_key)
            return self.chunks.cut(markdown, remaining, document.chunking)

        with ThreadPoolExecutor(limits.BODY_READERS) as readers:
            return list(zip(documents, readers.map(cut, documents), strict=True))

    def remake(
        self,
        documents: Sequence[Document],
        put: Put,
        remaining: Remaining,
        cuts: Callable[[], Cuts] | None = None,
    ) -> Remade:
        """Write all documents' chunks with one `put`, and update the rows that a new model changed.

        `cuts` returns the result of `cut`, if that has begun, or raises as it. Raises
        DependencyUnavailable.
        """
        try:
            made = self.cut(documents, remaining) if cuts is None else cuts()
            return Remade(documents=self._remake(made, put, remaining))
        except (KeyError, PermanentError) as error:
            if len(documents) == 1:
                [document] = documents
                named = {"tenant": document.tenant, "document_id": document.id}
                facts = {**named, "error_type": type(error).__name__}
                logger.warning("document_lost", extra=facts)
                return Remade(documents=(), lost=(document,))
        # The error doesn't name its document.
        parts = [self.remake([each], put, remaining) for each in documents]
        return Remade(
            documents=tuple(each for part in parts for each in part.documents),
            lost=tuple(each for part in parts for each in part.lost),
        )

    def _remake(self, cuts: Cuts, put: Put, remaining: Remaining) -> tuple[Document, ...]:
        """Raises EmbeddingRefused, ContentRefused and DependencyUnavailable."""
        documents = [document for document, _ in cuts]
        model_id = self.model_id(remaining)
        remade = [
            replace(
                document,
                chunk_count=len(chunks),
                token_count=sum(each.token_count for each in chunks),
                embedding_model=model_id,
            )
            for document, chunks in cuts
        ]
        pairs = [(document, chunks) for document, (_, chunks) in zip(remade, cuts, strict=True)]
        put(self.chunks.indexed_all(pairs, lambda *_: None, remaining))
        for after, before in zip(remade, documents, strict=True):
            if after != before:
                self._commit(after, before)
        self._relabel_changed(documents, remaining)
        return tuple(remade)

    def relabel(self, document: Document, remaining: Remaining) -> None:
        """Update the labels of the version's chunks from its current row."""
        current = self.documents.get(document.tenant, document.id)
        if current is not None and current.version == document.version:
            self.index.relabel(current, remaining)

    def _relabel_changed(self, documents: Sequence[Document], remaining: Remaining) -> None:
        """Relabel the chunks of documents whose labels changed before these chunks were in the
        index."""
        written = {(each.tenant, each.id): each for each in documents}
        for current in self.documents.many(list(written)):
            document = written[current.tenant, current.id]
            if current.version != document.version:
                continue
            if labels_of(current) != labels_of(document):
                self.index.relabel(current, remaining)

    def _commit(self, remade: Document, document: Document) -> None:
        # After a lost race the row still names the former model: reconciliation repeats the work.
        with suppress(VersionRaced):
            self.documents.commit(replace(remade, sequence=document.sequence + 1), document)


def bulks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield the documents in groups of about BULK_CHUNKS chunks."""
    bulk: list[Document] = []
    chunks = 0
    for document in documents:
        if bulk and chunks + document.chunk_count > limits.BULK_CHUNKS:
            yield bulk
            bulk, chunks = [], 0
        bulk.append(document)
        chunks += document.chunk_count
    if bulk:
        yield bulk
