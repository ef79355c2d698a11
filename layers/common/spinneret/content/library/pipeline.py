"""Handlers of document jobs: read an upload or stored text and pass it to the indexer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from spinneret.content import limits
from spinneret.content.documents.models import Document, DocumentFilter, DocumentSource
from spinneret.content.documents.ports import (
    ChunkWriter,
    ContentStore,
    DocumentStore,
    VersionRaced,
)
from spinneret.content.documents.rules import joined_tags
from spinneret.content.documents.service import DocumentDraft, Indexed, Indexer
from spinneret.content.extraction.models import Content
from spinneret.content.library import rules
from spinneret.content.library.models import MediaType
from spinneret.content.library.reading import content_of
from spinneret.content.library.remaking import Reindexer, Remade, bulks
from spinneret.jobs.models import JobEventKind
from spinneret.jobs.worker import Context
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock
from spinneret.kernel.errors import ContentRefused, DependencyUnavailable, NotFound
from spinneret.kernel.service import service

_BEHIND: Final = "indexed up to "
_RACES: Final = 3  # changes of one document by others meanwhile


@service
class UploadPipeline:
    """Handles `upload` jobs."""

    contents: ContentStore
    indexer: Indexer

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the job's result; all side effects are idempotent or fenced."""
        payload = context.job.payload
        context.checkpoint("reading", 10)
        try:
            body = self.contents.get_upload(payload["body_key"])
        except KeyError as error:
            raise ContentRefused("the upload is gone", details={"reason": "gone"}) from error
        url = payload["url"]
        content = content_of(body, MediaType(payload["media_type"]), url, payload["title"])
        page = DocumentDraft(
            tenant=context.job.tenant,
            url=url,
            url_key=rules.url_key(url),
            domain=rules.host_of(url),
            content=content,
            source=DocumentSource.UPLOAD,
            collection_id=payload["collection_id"],
            tag_ids=tuple(payload["tag_ids"]),
            annotations=payload["annotations"],
        )
        return result(_indexed(self.indexer, page, context))


@service
class ReindexPipeline:
    """Handles `reindex` jobs."""

    documents: DocumentStore
    contents: ContentStore
    indexer: Indexer

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Reindex the document; raise NotFound if it was deleted meanwhile."""
        for _ in range(_RACES):
            context.checkpoint("reading", 10)
            page = self._stored(context.job.tenant, context.job.payload["document_id"])
            try:
                return result(_indexed(self.indexer, page, context))
            except VersionRaced:
                continue
        raise DependencyUnavailable("dynamodb", "too many versions of one page at once")

    def _stored(self, tenant: str, identity: str) -> DocumentDraft:
        document = self.documents.get(tenant, identity)
        if document is None or document.deleted_at is not None:
            raise NotFound("no such document")
        try:
            return page_of(document, self.contents.get(document.content_key))
        except KeyError as error:
            raise ContentRefused("the text is gone", details={"reason": "gone"}) from error


@service
class TagPipeline:
    """Handles `tag` jobs: adds tags to the document that an identical crawl made."""

    documents: DocumentStore
    index: ChunkWriter
    clock: Clock

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the document's id, and whether it has the tags: not if it was deleted meanwhile.

        A document keeps at most DOCUMENT_TAGS_MAX tags.
        """
        payload = context.job.payload
        identity = payload["document_id"]
        context.checkpoint("tagging", 10)
        for _ in range(_RACES):
            current = self.documents.get(context.job.tenant, identity)
            if current is None or current.deleted_at is not None:
                return {"document_id": identity, "tagged": False}
            document = replace(
                current,
                tag_ids=joined_tags(current.tag_ids, payload["tag_ids"]),
                sequence=current.sequence + 1,
                updated_at=self.clock(),
            )
            if document.tag_ids == current.tag_ids:
                break
            self.index.relabel(document, lambda: _left(context))
            try:
                self.documents.commit(document, current, context.lease)
            except VersionRaced:
                continue
            break
        else:
            raise DependencyUnavailable("dynamodb", "too many versions of one page at once")
        return {"document_id": identity, "tagged": True}


@service
class RebuildPipeline:
    """Handles `rebuild_index` jobs: rewrites a tenant's documents in bulks.

    The job's step holds the current position, so that the next claim continues there.
    """

    documents: DocumentStore
    remaker: Reindexer
    index: ChunkWriter

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Return the number of documents written by this claim, and the lost ones."""
        listing = DocumentFilter(tenant=context.job.tenant)
        step = context.job.step or ""
        after = step.removeprefix(_BEHIND) if step.startswith(_BEHIND) else None
        written, lost = 0, []
        while True:
            page = self.documents.page(listing, after, limits.REBUILD_PAGE)
            for bulk in bulks(page.items):
                context.checkpoint(f"{_BEHIND}{after}" if after else "beginning", 10)
                remade = self._write(bulk, context)
                written += len(remade.documents)
                for document in remade.lost:
                    context.note(JobEventKind.WARNING, "document lost", {"id": document.id})
                    lost.append(document.id)
            after = page.after
            if after is None:
                return {"documents": written, "lost": lost[: limits.UPKEEP_FINDINGS]}

    def _write(self, bulk: Sequence[Document], context: Context) -> Remade:
        def left() -> float:
            return _left(context)

        remade = self.remaker.remake(bulk, lambda made: self.index.write(made, left), left)
        for document in remade.documents:
            self.index.remove_others(document, left)
        return remade


def page_of(document: Document, markdown: str) -> DocumentDraft:
    """Return a stored document as a page to reindex."""
    content = Content(
        title=document.title,
        markdown=markdown,
        language=document.language,
        metadata=document.metadata,
        extraction=document.extraction,
    )
    return DocumentDraft(
        tenant=document.tenant,
        url=document.url,
        url_key=rules.url_key(document.url),
        domain=document.domain,
        content=content,
        chunking=document.chunking,
        source=document.source,
        origin=document.origin,
        of=document,
    )


def result(indexed: Indexed) -> dict[str, Any]:
    """Build the result of an indexing job."""
    document = indexed.document
    return {
        "document_id": document.id,
        "url": document.url,
        "title": document.title,
        "language": document.language,
        "chunks": document.chunk_count,
        "tokens": document.token_count,
        "version": document.version,
        "unchanged": indexed.unchanged,
    }


def _indexed(indexer: Indexer, page: DocumentDraft, context: Context) -> Indexed:
    return indexer.index(page, context.lease, context.checkpoint, lambda: _left(context))


def _left(context: Context) -> float:
    return context.remaining() - bounds.DEADLINE_MARGIN_SECONDS
