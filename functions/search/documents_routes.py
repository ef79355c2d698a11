"""Routes: documents."""

import time
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from search import documents_examples as examples
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.content.documents.keys import is_position
from spinneret.content.documents.models import DocumentFilter
from spinneret.content.library.api_models import (
    Accepted,
    ChunkList,
    DocumentBatch,
    DocumentBatchRequest,
    DocumentChange,
    DocumentList,
    DocumentView,
    FullDocument,
    SingleDocumentRequest,
    TagNamesRequest,
    TextAddress,
    chunk_list,
    document_view,
    full_document,
    is_chunk_place,
)
from spinneret.content.library.views import accepted, batch
from spinneret.content.library.wiring import library_service
from spinneret.content.search.api_models import Host, Moment, SourceType
from spinneret.jobs.api_models import JobView, job_view
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import (
    BodyTooLarge,
    Conflict,
    IdempotencyMismatch,
    UrlInvalid,
)
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.job_responses import waited
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes
from spinneret.runtime.http.validation import invalid

routes = Routes(library_service)
router = routes.router

DOCUMENTS = "/api/v1/documents"
Text = Annotated[str | None, Query(max_length=253)]


@router.get(
    DOCUMENTS, **declared(Scope.READ, Permission.VIEW_DOCUMENTS, {200: DocumentList}, UrlInvalid)
)
def list_documents(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
    collection_id: Text = None,
    tag_id: Text = None,
    domain: Host | None = None,
    source: SourceType | None = None,
    language: Text = None,
    url: Annotated[str | None, Query(max_length=bounds.URL_MAX_CHARS)] = None,
    date_from: Moment | None = None,
    date_to: Moment | None = None,
    deleted: bool = False,
) -> DocumentList:
    """List the documents that match all filters, newest first.

    `url`, otherwise `collection_id`, `tag_id` or `domain`, selects an index. The other filters
    examine a bounded number of documents, so a page may be short and still have a cursor. Dates
    refer to the last change of content. `deleted` lists documents that can be restored.
    """
    listing = DocumentFilter(
        tenant=routes.tenant,
        collection_id=collection_id,
        tag_id=tag_id,
        domain=domain,
        source=source.source if source else None,
        language=language.lower() if language else None,
        date_from=date_from,
        date_to=date_to,
        deleted=deleted,
    )
    after = position_of(cursor, is_position)
    return DocumentList.page(routes.services.page(listing, url, after, limit), document_view)


@router.post(
    DOCUMENTS,
    **declared(
        Scope.WRITE,
        Permission.EDIT_DOCUMENTS,
        {200: JobView, 202: Accepted},
        BodyTooLarge,
        UrlInvalid,
        IdempotencyMismatch,
        idempotent=True,
        examples=examples.UPLOAD,
    ),
)
def upload_document(request: SingleDocumentRequest) -> Response[dict[str, Any]]:
    """Store a document and return the job that does it.

    Bodies of up to 10 MB are sent as an upload. With `wait`, the response is the finished job
    (200), with its result or error, unless it takes longer (202). A waiting request counts once
    against the key's rate.
    """
    caller, library = routes.principal, routes.services
    key = request_key(router, caller, DOCUMENTS, "wait")
    outcome = library.upload(caller.tenant, request.upload(), key, accepted)
    return waited(router, library.waits, caller, outcome, request.wait, job_view)


@router.post(
    f"{DOCUMENTS}/batch",
    **declared(
        Scope.WRITE,
        Permission.EDIT_DOCUMENTS,
        {202: DocumentBatch},
        IdempotencyMismatch,
        idempotent=True,
        examples=examples.BATCH,
    ),
)
def upload_documents(request: DocumentBatchRequest) -> Response[dict[str, Any]]:
    """Store up to 50 documents, each with its own outcome."""
    caller = routes.principal
    key = request_key(router, caller, f"{DOCUMENTS}/batch")
    uploads = request.uploads(invalid)
    return submitted(routes.services.upload_several(caller.tenant, uploads, key, batch))


@router.get(f"{DOCUMENTS}/<document_id>", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def read_document(document_id: str, include_deleted: bool = False) -> FullDocument:
    """Return one document with its text and first hundred chunks; a deleted one without them."""
    tenant, library = routes.tenant, routes.services
    labelled = library.get(tenant, document_id, deleted=include_deleted)
    if labelled.document.deleted_at is not None:
        return full_document(labelled, None, [], None)
    shown, chunks, after = library.chunks(tenant, document_id, 0, bounds.LIST_LIMIT_MAX, _left())
    return full_document(labelled, library.text(shown), chunks, after)


@router.patch(
    f"{DOCUMENTS}/<document_id>",
    **declared(
        Scope.WRITE,
        Permission.EDIT_DOCUMENTS,
        {200: DocumentView},
        Conflict,
        examples=examples.CHANGE,
    ),
)
def change_document(document_id: str, request: DocumentChange) -> DocumentView:
    """Change a document's metadata and tags, or move it between collections."""
    changed = routes.services.change(routes.tenant, document_id, request.change(), _left())
    return document_view(changed)


@router.delete(
    f"{DOCUMENTS}/<document_id>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None}, Conflict),
)
def delete_document(document_id: str) -> Response[None]:
    """Delete a document, so that searches no longer return it. It can be restored for 30 days."""
    routes.services.delete(routes.tenant, document_id, _left())
    return Response(status_code=204)


@router.post(
    f"{DOCUMENTS}/<document_id>/restore",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {200: DocumentView}, Conflict),
)
def restore_document(document_id: str) -> DocumentView:
    """Restore a deleted document."""
    return document_view(routes.services.restore(routes.tenant, document_id, _left()))


@router.post(
    f"{DOCUMENTS}/<document_id>/reindex",
    **declared(
        Scope.WRITE,
        Permission.EDIT_DOCUMENTS,
        {202: Accepted},
        IdempotencyMismatch,
        idempotent=True,
    ),
)
def reindex_document(document_id: str) -> Response[dict[str, Any]]:
    """Chunk and embed a document's text again."""
    caller = routes.principal
    key = request_key(router, caller, f"{DOCUMENTS}/{document_id}/reindex")
    return submitted(routes.services.reindex(caller.tenant, document_id, key, accepted))


@router.get(f"{DOCUMENTS}/<document_id>/chunks", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def list_chunks(
    document_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> ChunkList:
    """List a document's chunks in text order."""
    start = int(position_of(cursor, is_chunk_place) or 0)
    tenant = routes.tenant
    return chunk_list(*routes.services.chunks(tenant, document_id, start, limit, _left()))


@router.get(
    f"{DOCUMENTS}/<document_id>/markdown", **declared(Scope.READ, Permission.VIEW_DOCUMENTS)
)
def get_markdown(document_id: str) -> TextAddress:
    """Return a URL of a document's full text, valid for 15 minutes."""
    url = routes.services.markdown_url(routes.tenant, document_id)
    return TextAddress(url=url, expires_in=bounds.DOWNLOAD_SECONDS)


@router.post(
    f"{DOCUMENTS}/<document_id>/tags",
    **declared(
        Scope.WRITE,
        Permission.EDIT_DOCUMENTS,
        {200: DocumentView},
        Conflict,
        examples=examples.TAGS,
    ),
)
def add_tags(document_id: str, request: TagNamesRequest) -> DocumentView:
    """Add tags by name; missing tags are created."""
    tenant = routes.tenant
    return document_view(routes.services.add_tags(tenant, document_id, request.tags, _left()))


@router.delete(
    f"{DOCUMENTS}/<document_id>/tags/<tag_id>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None}, Conflict),
)
def remove_tag(document_id: str, tag_id: str) -> Response[None]:
    """Remove a tag from a document."""
    routes.services.remove_tag(routes.tenant, document_id, tag_id, _left())
    return Response(status_code=204)


@router.post(
    "/api/v1/index/rebuild",
    **declared(
        Scope.ADMIN,
        Permission.EDIT_DOCUMENTS,
        {202: Accepted},
        IdempotencyMismatch,
        idempotent=True,
    ),
)
def rebuild_index() -> Response[dict[str, Any]]:
    """Rebuild the index of all the tenant's documents from rows and stored texts."""
    caller = routes.principal
    key = request_key(router, caller, "/api/v1/index/rebuild")
    return submitted(routes.services.rebuild(caller.tenant, key, accepted))


def _left() -> Remaining:
    started = time.perf_counter()
    return lambda: bounds.SEARCH_SECONDS - (time.perf_counter() - started)
