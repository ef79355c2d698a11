"""A domain's routes together with the builder of its services.

routes = Routes(collection_service)

@routes.router.get("/api/v1/collections", **declared(Scope.READ, Permission.VIEW_DOCUMENTS))
def list_collections() -> CollectionList:
    return CollectionList.page(routes.services.page(routes.tenant), collection_view)
"""

from typing import Annotated, Final, cast

from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query

from spinneret.access.keys.models import Principal
from spinneret.aws.stage import Builder
from spinneret.kernel import bounds

SERVICES: Final = "services"
PRINCIPAL: Final = "principal"

Limit = Annotated[int, Query(ge=1, le=bounds.LIST_LIMIT_MAX)]
"""Maximum number of items in a page of a list."""


class Routes[S]:
    """The routes of one domain. An API function mounts one for each of its domains."""

    def __init__(self, build: Builder[S]) -> None:
        self.build = build
        self.router = Router()  # type: ignore[no-untyped-call]  # published without a signature

    @property
    def services(self) -> S:
        """The domain's services; available only while a request is served."""
        return cast(S, self.router.context[SERVICES](self.build))

    @property
    def principal(self) -> Principal:
        """The caller; available only on routes that require a scope."""
        return cast(Principal, self.router.context[PRINCIPAL])

    @property
    def tenant(self) -> str:
        """The caller's tenant; available as `principal`."""
        return self.principal.tenant


NO_SERVICES: Final = Builder(lambda _: None)
"""Builds nothing, for routes without services."""
