"""Use cases of a tenant's documents.

A change reaches the index before its row is committed, and searches check the row. Removed labels
therefore stop matching at once, and new ones match at once.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from spinneret.content import limits
from spinneret.content.collections.service import CollectionService
from spinneret.content.documents.keys import position
from spinneret.content.documents.models import Document, DocumentFilter, chunk_id, labels_of
from spinneret.content.documents.ports import (
    CollectionGone,
    ContentStore,
    DocumentStore,
    VersionRaced,
)
from spinneret.content.documents.rules import document_id, joined_tags, merged
from spinneret.content.library import rules
from spinneret.content.library.kinds import REBUILD, REINDEX, UPLOAD
from spinneret.content.library.models import DocumentUpdate, DocumentWithTags, Upload
from spinneret.content.search.models import FoundChunk
from spinneret.content.search.ports import ChunkIndex
from spinneret.content.tags.service import TagService
from spinneret.jobs.live.waiting import JobWaits
from spinneret.jobs.models import Draft, Priority, Reply, RequestKey
from spinneret.jobs.placement import Placed
from spinneret.jobs.service import JobService, Submitted
from spinneret.kernel import bounds
from spinneret.kernel.clock import Clock, Remaining
from spinneret.kernel.errors import (
    BodyTooLarge,
    Conflict,
    DependencyUnavailable,
    NotFound,
    PermanentError,
    ValidationFailed,
)
from spinneret.kernel.ids import is_id
from spinneret.kernel.paging import Page
from spinneret.kernel.races import changing, until_written
from spinneret.kernel.service import service

logger = logging.getLogger(__name__)


Render = Callable[[Sequence[Placed]], Reply]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Result of checking one upload of a batch: its draft, or the error."""

    draft: Draft | None
    error: PermanentError | None = None


@service
class LibraryService:
    """Manages documents. Unknown, foreign and deleted ids raise the same NotFound.

    All methods raise DependencyUnavailable.
    """

    documents: DocumentStore
    contents: ContentStore
    index: ChunkIndex
    collections: CollectionService
    tags: TagService
    jobs: JobService
    waits: JobWaits
    clock: Clock

    # ---------------------------------------------------------------- Reading

    def get(self, tenant: str, identity: str, *, deleted: bool = False) -> DocumentWithTags:
        """Return the document; raise NotFound. `deleted` includes deleted documents."""
        return self._labelled(tenant, [self._standing(tenant, identity, deleted=deleted)])[0]

    def page(
        self, listing: DocumentFilter, url: str | None, after: str | None, limit: int
    ) -> Page[DocumentWithTags]:
        """Return matching documents, newest first. Reads a bounded number, so a page may be short.

        Raises UrlInvalid.
        """
        tenant = listing.tenant
        if url is not None:
            return self._of_url(listing, url)
        found: list[Document] = []
        for _ in range(bounds.LIST_READS):
            page = self.documents.page(listing, after, bounds.LIST_LIMIT_MAX)
            after = page.after
            for document in page.items:
                if rules.matches(document, listing):
                    found.append(document)
                if len(found) > limit:
                    shown = found[:limit]
                    return Page(items=self._labelled(tenant, shown), after=position(shown[-1]))
            if after is None:
                break
        return Page(items=self._labelled(tenant, found), after=after)

    def chunks(
        self, tenant: str, identity: str, start: int, limit: int, remaining: Remaining
    ) -> tuple[Document, list[FoundChunk], int | None]:
        """Return the document, its chunks from `start` on, and the next start or None. Raise
        NotFound."""
        document = self._standing(tenant, identity)
        end = min(start + limit, document.chunk_count)
        ids = [chunk_id(document.id, document.version, number) for number in range(start, end)]
        found = self.index.chunks(tenant, ids, None, remaining) if ids else {}
        shown = [found[each] for each in ids if each in found]
        return document, shown, end if end < document.chunk_count else None

    def text(self, document: Document) -> str | None:
        """Return the whole text; None if it is too large or missing."""
        try:
            return self.contents.get_small(document.content_key, limits.DOCUMENT_SHOWN_BYTES)
        except KeyError:
            return None

    def markdown_url(self, tenant: str, identity: str) -> str:
        """Return a temporary URL of the whole text; raise NotFound."""
        document = self._standing(tenant, identity)
        return self.contents.url(document.content_key, seconds=bounds.DOWNLOAD_SECONDS)

    # ---------------------------------------------------------------- Changing

    def change(
        self, tenant: str, identity: str, change: DocumentUpdate, remaining: Remaining
    ) -> DocumentWithTags:
        """Change labels. Raise NotFound (also for the collection) or ValidationFailed."""
        if change.moves and change.collection_id is not None:
            self.collections.get(tenant, change.collection_id)
        tag_ids: tuple[str, ...] | None = None
        if change.tags is not None:
            self._standing(tenant, identity)  # create no tags for a missing document
            tag_ids = joined_tags((), [tag.id for tag in self.tags.named(tenant, change.tags)])

        def changed(document: Document) -> Document:
            if change.moves:
                document = replace(document, collection_id=change.collection_id)
            if change.annotations is not None:
                annotations = merged(document.annotations, change.annotations)
                document = replace(document, annotations=annotations)
            return document if tag_ids is None else replace(document, tag_ids=tag_ids)

        return self._changed(tenant, identity, changed, remaining)

    def add_tags(
        self, tenant: str, identity: str, names: Sequence[str], remaining: Remaining
    ) -> DocumentWithTags:
        """Add tags; raise NotFound, or ValidationFailed for too many tags."""
        self._standing(tenant, identity)
        tag_ids = tuple(tag.id for tag in self.tags.named(tenant, names))

        def tagged(document: Document) -> Document:
            standing = self.tags.many(tenant, document.tag_ids)  # a deleted tag takes no place
            kept = [each for each in document.tag_ids if each in standing]
            if len({*kept, *tag_ids}) > limits.DOCUMENT_TAGS_MAX:
                raise ValidationFailed.of_field(
                    "tags", f"a document has at most {limits.DOCUMENT_TAGS_MAX} tags"
                )
            return replace(document, tag_ids=joined_tags(kept, tag_ids))

        return self._changed(tenant, identity, tagged, remaining)

    def remove_tag(self, tenant: str, identity: str, tag_id: str, remaining: Remaining) -> None:
        """Remove a tag; raise NotFound, also if the document lacks the tag."""

        def untagged(document: Document) -> Document:
            if tag_id not in document.tag_ids:
                raise NotFound("the document has no such tag")
            rest = tuple(each for each in document.tag_ids if each != tag_id)
            return replace(document, tag_ids=rest)

        self._changed(tenant, identity, untagged, remaining)

    def delete(self, tenant: str, identity: str, remaining: Remaining) -> None:
        """Delete a document: hidden at once, removed after 30 days. Raise NotFound."""

        def deleted(document: Document) -> Document:
            return replace(document, deleted_at=self.clock())

        self._changed(tenant, identity, deleted, remaining, index_first=False)

    def restore(self, tenant: str, identity: str, remaining: Remaining) -> DocumentWithTags:
        """Restore a deleted document. Raise NotFound, or Conflict if it isn't deleted."""

        def restored(document: Document) -> Document:
            if document.deleted_at is None:
                raise Conflict("the document isn't deleted")
            return replace(document, deleted_at=None)

        return self._changed(tenant, identity, restored, remaining, deleted=True)

    # ---------------------------------------------------------------- Jobs

    def upload(
        self, tenant: str, upload: Upload, key: RequestKey | None, answer: Render
    ) -> Submitted:
        """Submit an upload. Raise NotFound for the collection, UrlInvalid, BodyTooLarge or
        ValidationFailed."""
        draft = self._draft(tenant, upload)
        return self.jobs.submit(tenant, [draft], key, answer)

    def upload_several(
        self,
        tenant: str,
        uploads: Sequence[Upload | PermanentError],
        key: RequestKey | None,
        answer: Callable[[Sequence[Checked], Sequence[Placed]], Reply],
    ) -> Submitted:
        """Submit uploads, each with its own outcome. More jobs than one transaction takes are
        stored in several transactions. A repeated request stores some jobs again, which then find
        their documents unchanged."""
        checked = [self._checked(tenant, each) for each in uploads]
        drafts = [each.draft for each in checked if each.draft]
        placed: list[Placed] = []

        def kept(more: Sequence[Placed]) -> Reply:
            placed.extend(more)
            return Reply(status=202, body={})

        size = limits.DOCUMENTS_PER_TRANSACTION
        while len(drafts) > size:
            self.jobs.submit(tenant, drafts[:size], None, kept)
            drafts = drafts[size:]
        return self.jobs.submit(tenant, drafts, key, lambda last: answer(checked, [*placed, *last]))

    def reindex(
        self, tenant: str, identity: str, key: RequestKey | None, answer: Render
    ) -> Submitted:
        """Submit a job that chunks and embeds a document again; raise NotFound."""
        document = self._standing(tenant, identity)
        draft = Draft(
            kind=REINDEX,
            payload={"url": document.url, "document_id": document.id},
            priority=Priority.LOW,
            domain=document.domain,
            duplicate_key=None,
        )
        return self.jobs.submit(tenant, [draft], key, answer)

    def rebuild(self, tenant: str, key: RequestKey | None, answer: Render) -> Submitted:
        """Submit a job that reindexes all of the tenant's documents from rows and bodies."""
        draft = Draft(kind=REBUILD, payload={}, priority=Priority.LOW, duplicate_key=None)
        return self.jobs.submit(tenant, [draft], key, answer)

    # ---------------------------------------------------------------- Parts

    def _standing(self, tenant: str, identity: str, *, deleted: bool = False) -> Document:
        document = self.documents.get(tenant, identity) if is_id(identity) else None
        if document is None or (document.deleted_at is not None and not deleted):
            raise NotFound("no such document")
        return document

    def _of_url(self, listing: DocumentFilter, url: str) -> Page[DocumentWithTags]:
        identity = document_id(listing.tenant, rules.url_key(rules.known_url(url)))
        document = self.documents.get(listing.tenant, identity)
        found = [document] if document is not None and rules.matches(document, listing) else []
        return Page(items=self._labelled(listing.tenant, found), after=None)

    def _labelled(self, tenant: str, documents: Sequence[Document]) -> tuple[DocumentWithTags, ...]:
        wanted = list(dict.fromkeys(tag for each in documents for tag in each.tag_ids))
        names: dict[str, str] = {}
        for start in range(0, len(wanted), 100):
            found = self.tags.many(tenant, wanted[start : start + 100])
            names |= {tag_id: tag.name for tag_id, tag in found.items()}
        return tuple(
            DocumentWithTags(
                document=each,
                tag_names={tag: names[tag] for tag in each.tag_ids if tag in names},
            )
            for each in documents
        )

    def _changed(
        self,
        tenant: str,
        identity: str,
        change: Callable[[Document], Document],
        remaining: Remaining,
        *,
        deleted: bool = False,
        index_first: bool = True,
    ) -> DocumentWithTags:
        def changed() -> DocumentWithTags | None:
            current = self._standing(tenant, identity, deleted=deleted)
            wanted = change(current)
            if wanted == current:
                return self._labelled(tenant, [current])[0]
            document = replace(wanted, sequence=current.sequence + 1, updated_at=self.clock())
            try:
                if labels_of(document) != labels_of(current):
                    self._relabel(document, remaining, must=index_first)
                self.documents.commit(document, current)
            except VersionRaced:
                return None
            except CollectionGone:
                raise self._without_collection(document) from None
            return self._labelled(tenant, [document])[0]

        return until_written(changed, changing("the document"))

    def _without_collection(self, document: Document) -> PermanentError:
        return NotFound("no such collection", details={"collection_id": document.collection_id})

    def _relabel(self, document: Document, remaining: Remaining, *, must: bool) -> None:
        try:
            self.index.relabel(document, remaining)
        except DependencyUnavailable:
            if must:
                raise
            # Searches check the row, which already hides the deleted document.
            logger.warning("deleted_chunks_left", extra={"document_id": document.id})

    def _checked(self, tenant: str, upload: Upload | PermanentError) -> Checked:
        if isinstance(upload, PermanentError):
            return Checked(draft=None, error=upload)
        try:
            return Checked(draft=self._draft(tenant, upload))
        except PermanentError as error:
            return Checked(draft=None, error=error)

    def _draft(self, tenant: str, upload: Upload) -> Draft:
        if len(upload.body) > limits.DOCUMENT_MAX_BYTES:
            raise BodyTooLarge(f"a document has at most {limits.DOCUMENT_MAX_BYTES} bytes")
        if upload.collection_id is not None:
            self.collections.get(tenant, upload.collection_id)
        merged({}, upload.annotations)  # raises, too, before there is a job
        url = (
            rules.uploaded_url(upload.title, upload.body)
            if upload.url is None
            else rules.known_url(upload.url)
        )
        payload: dict[str, Any] = {
            "url": url,
            "document_id": document_id(tenant, rules.url_key(url)),
            "title": upload.title,
            "body_key": self.contents.put_upload(tenant, upload.body),
            "media_type": upload.media_type.value,
            "collection_id": upload.collection_id,
            "tag_ids": [tag.id for tag in self.tags.named(tenant, upload.tags)],
            "annotations": dict(upload.annotations),
        }
        return Draft(
            kind=UPLOAD,
            payload=payload,
            priority=Priority.NORMAL,
            domain=rules.host_of(url),
            duplicate_key=None,
        )
