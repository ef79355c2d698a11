"""Routes: crawl configs."""

from aws_lambda_powertools.event_handler import Response

from crawl.configs_examples import CONFIG
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.configs.api_models import ConfigList, ConfigRequest, ConfigView, config_view
from spinneret.crawl.configs.service import ConfigService
from spinneret.crawl.wiring import crawl_api
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, FeatureDisabled
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.responses import created
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(crawl_api)
router = routes.router


@router.get("/api/v1/configs", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def list_configs(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> ConfigList:
    """List crawl configs, newest first."""
    return ConfigList.page(_configs().page(routes.tenant, position_of(cursor), limit), config_view)


@router.post(
    "/api/v1/configs",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {201: ConfigView},
        Conflict,
        FeatureDisabled,
        examples=CONFIG,
    ),
)
def create_config(request: ConfigRequest) -> Response[ConfigView]:
    """Create a crawl config. A new default config replaces the previous default."""
    made = _configs().create(routes.tenant, request.draft)
    return created(config_view(made))


@router.get("/api/v1/configs/<config_id>", **declared(Scope.READ, Permission.VIEW_CRAWLS))
def get_config(config_id: str) -> ConfigView:
    """Return one crawl config."""
    return config_view(_configs().get(routes.tenant, config_id))


@router.put(
    "/api/v1/configs/<config_id>",
    **declared(
        Scope.WRITE,
        Permission.CONFIGURE_CRAWLS,
        {200: ConfigView},
        Conflict,
        FeatureDisabled,
        examples=CONFIG,
    ),
)
def replace_config(config_id: str, request: ConfigRequest) -> ConfigView:
    """Replace a crawl config; omitted headers are kept.

    Crawls that were submitted before use the old config.
    """
    return config_view(_configs().update(routes.tenant, config_id, request.draft))


@router.delete(
    "/api/v1/configs/<config_id>",
    **declared(Scope.WRITE, Permission.CONFIGURE_CRAWLS, {204: None}, Conflict),
)
def delete_config(config_id: str) -> Response[None]:
    """Delete a crawl config that no source uses."""
    _configs().remove(routes.tenant, config_id)
    return Response(status_code=204)


def _configs() -> ConfigService:
    return routes.services.configs
