"""Routes: tags of documents."""

from aws_lambda_powertools.event_handler import Response

from search.tags_examples import TAG
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.content.tags.api_models import TagList, TagRequest, TagView
from spinneret.content.wiring import tag_service
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(tag_service)
router = routes.router


@router.get("/api/v1/tags", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def list_tags(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> TagList:
    """List tags, newest first."""
    page = routes.services.page(routes.tenant, position_of(cursor), limit)
    return TagList.page(page, TagView.of)


@router.post(
    "/api/v1/tags",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {201: TagView}, Conflict, examples=TAG),
)
def create_tag(request: TagRequest) -> Response[TagView]:
    """Create a tag. Its name is converted to lower case."""
    made = routes.services.create(routes.tenant, request.name)
    return created(TagView.of(made))


@router.get("/api/v1/tags/<tag_id>", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def get_tag(tag_id: str) -> TagView:
    """Return one tag."""
    return TagView.of(routes.services.get(routes.tenant, tag_id))


@router.put(
    "/api/v1/tags/<tag_id>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {200: TagView}, Conflict, examples=TAG),
)
def rename_tag(tag_id: str, request: TagRequest) -> TagView:
    """Rename a tag."""
    return TagView.of(routes.services.rename(routes.tenant, tag_id, request.name))


@router.delete(
    "/api/v1/tags/<tag_id>",
    **declared(Scope.WRITE, Permission.EDIT_DOCUMENTS, {204: None}, Conflict),
)
def delete_tag(tag_id: str) -> Response[None]:
    """Delete a tag."""
    routes.services.remove(routes.tenant, tag_id)
    return Response(status_code=204)
