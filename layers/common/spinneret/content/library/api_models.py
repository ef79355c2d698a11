"""Requests and responses of documents."""

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from spinneret.content import limits
from spinneret.content.chunking.models import ChunkType
from spinneret.content.documents.models import Document, DocumentSource
from spinneret.content.extraction.api_models import ExtractionView, extraction_fields
from spinneret.content.library.models import DocumentUpdate, DocumentWithTags, MediaType, Upload
from spinneret.content.search.models import FoundChunk
from spinneret.content.tags.api_models import TagName
from spinneret.jobs.api_models import WaitSeconds
from spinneret.jobs.models import JobStatus
from spinneret.kernel import bounds
from spinneret.kernel.clock import optional_stamp, to_iso
from spinneret.kernel.errors import PermanentError, ValidationFailed
from spinneret.kernel.paging import cursor_of
from spinneret.kernel.views import ListOf

Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Url = Annotated[str, StringConstraints(min_length=1, max_length=bounds.URL_MAX_CHARS)]
Id = Annotated[str, StringConstraints(min_length=1, max_length=80)]
TagNames = Annotated[tuple[TagName, ...], Field(max_length=limits.DOCUMENT_TAGS_MAX, strict=False)]
Annotations = Annotated[dict[str, Any], Field(max_length=100)]


class DocumentRequest(BaseModel):
    """A document to store: text in `content`, or any file in `content_base64`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Url | None = None
    """URL of the page, or `upload://` and a name; by default the id is derived from the content."""
    title: Title | None = None
    """Title; by default the content's own, if it has one."""
    content: Annotated[str, StringConstraints(min_length=1)] | None = None
    """Content as text; give either this or `content_base64`."""
    content_base64: Annotated[str, StringConstraints(min_length=1)] | None = None
    """Content in base64, for PDF and other binary formats."""
    content_type: Annotated[MediaType, Field(strict=False)] = MediaType.PLAIN
    """Media type of the content. Markdown is stored as sent, with its HTML and links."""
    collection_id: Id | None = None
    """Collection of the document; null for none."""
    tags: TagNames | None = None
    """Names of tags; missing tags are created."""
    metadata: Annotations | None = None
    """Custom fields; omitted names of an existing document are kept, null removes a name."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.content is None) == (self.content_base64 is None):
            raise ValueError("give either content or content_base64")
        binary = self.content_type in (MediaType.PDF, MediaType.DOCX)
        if binary and self.content_base64 is None:
            raise ValueError("files of this content_type are sent in content_base64")
        return self

    def upload(self) -> Upload:
        """Return the document to store.

        Raises ValidationFailed if `content_base64` isn't base64.
        """
        if self.content_base64 is None:
            body = (self.content or "").encode("utf-8", "replace")
        else:
            try:
                body = base64.b64decode(self.content_base64, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ValidationFailed.of_field("content_base64", "not base64") from error
        return Upload(
            url=self.url,
            title=self.title,
            body=body,
            media_type=self.content_type,
            collection_id=self.collection_id,
            tags=self.tags or (),
            annotations=self.metadata or {},
        )

    def upload_or_error(self) -> Upload | PermanentError:
        """Return the document, or its error as the outcome within a batch."""
        try:
            return self.upload()
        except ValidationFailed as error:
            return error


class SingleDocumentRequest(DocumentRequest):
    """Body of `POST /api/v1/documents`: a document, and how long to wait until it is stored."""

    wait: WaitSeconds = 0
    """Seconds to wait for the end of the job; the response is 200 with the job, or 202 after that.

    A repeated request under an Idempotency-Key may wait for another time.
    """


@dataclass(frozen=True)
class Malformed:
    """An invalid document of a batch."""

    error: ValidationError


def _or_malformed(value: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Return an invalid document as Malformed, so that the rest of its batch is accepted."""
    try:
        return read(value)
    except ValidationError as error:
        return Malformed(error)


class DocumentBatchRequest(BaseModel):
    """Documents to store, each with its own outcome."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    documents: Annotated[
        tuple[Annotated[DocumentRequest, WrapValidator(_or_malformed)], ...],
        Field(min_length=1, max_length=limits.DOCUMENTS_PER_BATCH, strict=False),
    ]
    """Documents to index, each as one job."""

    def uploads(
        self, refusal: Callable[[ValidationError], ValidationFailed]
    ) -> list[Upload | PermanentError]:
        """Return each document, or its error."""
        read: list[DocumentRequest | Malformed] = [*self.documents]
        return [
            refusal(each.error) if isinstance(each, Malformed) else each.upload_or_error()
            for each in read
        ]


class DocumentChange(BaseModel):
    """Changes of a document; omitted fields are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    metadata: Annotations | None = None
    """Merged into the existing metadata; null removes a name (RFC 7396)."""
    collection_id: Id | None = None
    """null removes the document from its collection."""
    tags: TagNames | None = None
    """Complete list of tag names, which replaces the old one; missing tags are created."""

    def change(self) -> DocumentUpdate:
        """Return the requested change."""
        return DocumentUpdate(
            annotations=self.metadata,
            moves="collection_id" in self.model_fields_set,
            collection_id=self.collection_id,
            tags=self.tags,
        )


class TagNamesRequest(BaseModel):
    """Tags to add, by name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    tags: Annotated[
        tuple[TagName, ...],
        Field(min_length=1, max_length=limits.DOCUMENT_TAGS_MAX, strict=False),
    ]
    """Names of tags; missing ones are created."""


class Accepted(BaseModel):
    """The accepted job."""

    job_id: str
    status: JobStatus
    """State of the indexing job."""
    message: str
    document_id: str | None = None
    """Id of the document; null until the job has stored it."""
    url: str | None = None


class Refusal(BaseModel):
    """Reason for a rejection."""

    error: str
    code: str
    details: dict[str, Any] = {}


class DocumentOutcome(BaseModel):
    """Outcome of one document of a batch: its job or its error."""

    job_id: str | None = None
    status: JobStatus | None = None
    message: str
    document_id: str | None = None
    url: str | None = None
    """URL of the document; null without one."""
    error: Refusal | None = None
    """Reason for the rejection; null if the document was accepted."""


class DocumentBatch(BaseModel):
    """Outcomes in the order of the documents."""

    jobs: list[DocumentOutcome]
    """Outcomes in the order of the documents."""
    total_submitted: int
    failed_count: int


class DocumentTag(BaseModel):
    """A tag of a document."""

    tag_id: str
    name: str
    """Name of the tag."""


class DocumentView(BaseModel):
    """A document without its text."""

    document_id: str
    url: str
    """URL of the document; a name of ours for an upload without one."""
    domain: str
    """Host of the URL."""
    parent_url: str | None
    title: str | None
    """Title; null without one."""
    content_hash: str
    """SHA-256 of the extracted text, in hex."""
    language: str
    """Language of the text (ISO 639), `und` if it is unknown."""
    extraction: ExtractionView | None
    source: DocumentSource
    """Channel through which the document arrived."""
    collection_id: str | None
    """Id of the collection; null outside all collections."""
    tags: list[DocumentTag]
    """Tags of the document."""
    metadata: dict[str, Any]
    """Metadata of the page, merged with the tenant's own."""
    version: str
    """Id of the current version."""
    chunk_count: int
    """Number of chunks in the index."""
    token_count: int
    embedding_model: str
    created_at: str
    crawled_at: str
    changed_at: str
    """Time of the last change of the content (RFC 3339, UTC)."""
    updated_at: str
    deleted_at: str | None


class ChunkView(BaseModel):
    """A part of a document's text: `content` is `text[start_char:end_char]`."""

    id: str
    """Id of the chunk."""
    document_id: str
    """Id of the chunk's document."""
    content: str
    chunk_index: int
    start_char: int
    end_char: int
    token_count: int
    embedding_model: str
    section_header: str | None
    """Nearest heading above the chunk; the document's title before the first heading."""
    content_type: ChunkType


class FullDocument(DocumentView):
    """A document with its text and its first chunks."""

    content: str | None
    """The full text; null if it is larger than one megabyte: `…/markdown` returns its URL."""
    chunks: list[ChunkView]
    """Chunks of the current version in their order."""
    next_chunk_cursor: str | None
    """Cursor for `…/chunks`; null if there are no further chunks."""


class DocumentList(ListOf[DocumentView]):
    """A page of documents."""


class ChunkList(ListOf[ChunkView]):
    """A page of chunks, in the document's order."""


class TextAddress(BaseModel):
    """URL of a document's full text, readable without an API key."""

    url: str
    """URL that returns the text for a limited time."""
    expires_in: int
    """Lifetime of the URL in seconds."""


def document_view(labelled: DocumentWithTags) -> DocumentView:
    """Return the view of a document."""
    return DocumentView(**_fields(labelled))


def full_document(
    labelled: DocumentWithTags, content: str | None, chunks: Sequence[FoundChunk], after: int | None
) -> FullDocument:
    """Return the view of a document with its text and chunks."""
    document = labelled.document
    return FullDocument(
        **_fields(labelled),
        content=content,
        chunks=[chunk_view(document, each) for each in chunks],
        next_chunk_cursor=chunk_cursor(after),
    )


def chunk_view(document: Document, chunk: FoundChunk) -> ChunkView:
    """Return the view of a chunk."""
    return ChunkView(
        id=chunk.id,
        document_id=document.id,
        content=chunk.text,
        chunk_index=chunk.index,
        start_char=chunk.start,
        end_char=chunk.end,
        token_count=chunk.token_count,
        embedding_model=document.embedding_model,
        section_header=chunk.section or document.title,
        content_type=chunk.type,
    )


def chunk_list(document: Document, chunks: Sequence[FoundChunk], after: int | None) -> ChunkList:
    """Return the view of a page of chunks."""
    return ChunkList(
        items=[chunk_view(document, each) for each in chunks],
        next_cursor=chunk_cursor(after),
        has_more=after is not None,
    )


def chunk_cursor(index: int | None) -> str | None:
    """Return the cursor of a chunk's position, or None."""
    return cursor_of(None if index is None else str(index))


def is_chunk_place(text: str) -> bool:
    """Return whether the text is a valid position of a chunk."""
    return text.isascii() and text.isdigit() and len(text) <= 5


def _fields(labelled: DocumentWithTags) -> dict[str, Any]:
    document = labelled.document
    page = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(document.metadata).items()
        if value
    }
    return {
        "document_id": document.id,
        "url": document.url,
        "domain": document.domain,
        "parent_url": document.parent_url,
        "title": document.title,
        "content_hash": document.content_hash,
        "language": document.language,
        "extraction": extraction_fields(document.extraction),
        "source": document.source,
        "collection_id": document.collection_id,
        "tags": [
            DocumentTag(tag_id=tag_id, name=name) for tag_id, name in labelled.tag_names.items()
        ],
        "metadata": {**page, **document.annotations},
        "version": document.version,
        "chunk_count": document.chunk_count,
        "token_count": document.token_count,
        "embedding_model": document.embedding_model,
        "created_at": to_iso(document.created_at),
        "crawled_at": to_iso(document.crawled_at),
        "changed_at": to_iso(document.changed_at),
        "updated_at": to_iso(document.updated_at),
        "deleted_at": optional_stamp(document.deleted_at),
    }
