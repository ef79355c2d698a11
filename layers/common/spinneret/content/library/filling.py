"""Brings an index in line with a page of rows."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from spinneret.content.documents.models import Document
from spinneret.content.library.remaking import Cuts, Reindexer, bulks
from spinneret.content.search.ports import IndexUpkeep
from spinneret.kernel.clock import Remaining
from spinneret.kernel.service import service


@dataclass(frozen=True, kw_only=True)
class Filled:
    """Result of comparing rows with an index."""

    written: int
    relabelled: int
    """Number of documents whose chunks had other labels than their rows."""
    lost: tuple[Document, ...]
    """Documents whose text is missing or can't be embedded or indexed."""


@service
class IndexFiller:
    """Writes what an index lacks of documents."""

    remaker: Reindexer
    upkeep: IndexUpkeep

    def fill(
        self,
        target: str,
        documents: Sequence[Document],
        remaining: Remaining,
        before_bulk: Callable[[], object] = lambda: None,
    ) -> Filled:
        """Write documents whose chunks are missing, surplus or of another model, in bulks of
        hundreds of chunks; relabel documents with outdated labels.

        Calls `before_bulk` before each bulk and raises what it raises, or DependencyUnavailable.
        """
        if not documents:
            return Filled(written=0, relabelled=0, lost=())
        model_id = self.remaker.model_id(remaining)
        held = self.upkeep.held(target, documents, remaining)
        outdated: list[Document] = []
        relabelled = 0
        for document in documents:
            has = held[document.id]
            if has.chunks != document.chunk_count or document.embedding_model != model_id:
                outdated.append(document)
            elif not has.labelled:
                self.remaker.relabel(document, remaining)
                relabelled += 1
        written = 0
        lost: list[Document] = []
        for bulk, cuts in self._cut_ahead(outdated, remaining):
            before_bulk()
            remade = self.remaker.remake(
                bulk, lambda made: self.upkeep.write(made, target, remaining), remaining, cuts
            )
            for document in remade.documents:
                if held[document.id].chunks > document.chunk_count:
                    self.upkeep.trim(document, target, remaining)
            written += len(remade.documents)
            lost += remade.lost
        return Filled(written=written, relabelled=relabelled, lost=tuple(lost))

    def _cut_ahead(
        self, documents: Sequence[Document], remaining: Remaining
    ) -> Iterator[tuple[list[Document], Callable[[], Cuts]]]:
        """Yield bulks with their chunks; the next bulk is cut while the caller writes one."""
        with ThreadPoolExecutor(1) as ahead:
            former: tuple[list[Document], Callable[[], Cuts]] | None = None
            for bulk in bulks(documents):
                cutting = ahead.submit(self.remaker.cut, bulk, remaining)
                if former is not None:
                    yield former
                former = bulk, cutting.result
            if former is not None:
                yield former
