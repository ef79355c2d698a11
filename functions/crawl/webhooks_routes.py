"""Routes: webhooks, their secrets and their deliveries."""

from typing import Any, Final

from aws_lambda_powertools.event_handler import Response

from crawl.webhooks_examples import CREATE_WEBHOOK, REPLACE_WEBHOOK
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.crawl.wiring import crawl_api
from spinneret.events.webhooks.api_models import (
    DefaultSecret,
    DeliveryList,
    DeliverySubmission,
    EndpointList,
    EndpointRequest,
    EndpointUpdate,
    EndpointView,
    IssuedEndpoint,
    default_secret,
    delivery_view,
    endpoint_list,
    endpoint_view,
    issued_endpoint,
)
from spinneret.events.webhooks.service import WebhookService
from spinneret.jobs.models import RequestKey
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    Conflict,
    FeatureDisabled,
    IdempotencyMismatch,
    UrlBlocked,
    UrlInvalid,
    ValidationFailed,
)
from spinneret.kernel.paging import position_of
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import refuse_request_key, request_key, submitted
from spinneret.runtime.http.responses import created_secret
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(crawl_api)
router = routes.router

_SUBMISSION: Final = declared(
    Scope.WRITE,
    Permission.MANAGE_WEBHOOKS,
    {202: DeliverySubmission},
    Conflict,
    FeatureDisabled,
    IdempotencyMismatch,
    idempotent=True,
)


@router.post(
    "/api/v1/webhooks",
    **declared(
        Scope.WRITE,
        Permission.MANAGE_WEBHOOKS,
        {201: IssuedEndpoint},
        UrlInvalid,
        UrlBlocked,
        Conflict,
        FeatureDisabled,
        examples=CREATE_WEBHOOK,
    ),
)
def create_webhook(request: EndpointRequest) -> Response[IssuedEndpoint]:
    """Create a webhook. Only this response contains its secret, given or generated.

    It gets events of accounts (`user.*`) if its caller may read them.
    """
    endpoint = request.endpoint(accounts=_may_read_accounts())
    made = _shown_once().create(routes.tenant, endpoint, request.secret)
    return created_secret(issued_endpoint(*made))


@router.get(
    "/api/v1/webhooks",
    **declared(Scope.READ, Permission.VIEW_WEBHOOKS, {200: EndpointList}, FeatureDisabled),
)
def list_webhooks(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> EndpointList:
    """List webhooks, newest first."""
    page = _webhooks().page(routes.tenant, position_of(cursor), limit)
    return endpoint_list(page, whole_url=_may_write())


@router.post(
    "/api/v1/webhooks/default-secret",
    **declared(
        Scope.ADMIN,
        Permission.MANAGE_WEBHOOKS,
        {201: DefaultSecret},
        Conflict,
        FeatureDisabled,
        ValidationFailed,
    ),
)
def rotate_default_secret() -> Response[DefaultSecret]:
    """Create a new secret for the `webhook_url`s of single jobs.

    Only this response contains it. The previous secret also signs for another 24 hours.
    """
    webhooks = _shown_once()
    return created_secret(default_secret(*webhooks.rotate_default(routes.tenant)))


@router.get(
    "/api/v1/webhooks/<endpoint_id>",
    **declared(Scope.READ, Permission.VIEW_WEBHOOKS, {200: EndpointView}, FeatureDisabled),
)
def get_webhook(endpoint_id: str) -> EndpointView:
    """Return one webhook."""
    return endpoint_view(_webhooks().get(routes.tenant, endpoint_id), whole_url=_may_write())


@router.put(
    "/api/v1/webhooks/<endpoint_id>",
    **declared(
        Scope.WRITE,
        Permission.MANAGE_WEBHOOKS,
        {200: EndpointView},
        UrlInvalid,
        UrlBlocked,
        Conflict,
        FeatureDisabled,
        examples=REPLACE_WEBHOOK,
    ),
)
def replace_webhook(endpoint_id: str, request: EndpointUpdate) -> EndpointView:
    """Replace a webhook except its secret; omitted headers are kept.

    From then on it gets events of accounts (`user.*`) only if its caller may read them.
    """
    endpoint = request.endpoint(accounts=_may_read_accounts())
    changed = _webhooks().update(routes.tenant, endpoint_id, endpoint)
    return endpoint_view(changed, whole_url=True)


@router.delete(
    "/api/v1/webhooks/<endpoint_id>",
    **declared(Scope.WRITE, Permission.MANAGE_WEBHOOKS, {204: None}, FeatureDisabled),
)
def delete_webhook(endpoint_id: str) -> Response[None]:
    """Delete a webhook; its pending deliveries aren't sent."""
    _webhooks().remove(routes.tenant, endpoint_id)
    return Response(status_code=204)


@router.post(
    "/api/v1/webhooks/<endpoint_id>/rotate",
    **declared(
        Scope.WRITE,
        Permission.MANAGE_WEBHOOKS,
        {201: IssuedEndpoint},
        Conflict,
        FeatureDisabled,
        ValidationFailed,
    ),
)
def rotate_secret(endpoint_id: str) -> Response[IssuedEndpoint]:
    """Create a new secret. The previous secret also signs deliveries for another 24 hours."""
    webhooks = _shown_once()
    return created_secret(issued_endpoint(*webhooks.rotate(routes.tenant, endpoint_id)))


@router.post("/api/v1/webhooks/<endpoint_id>/test", **_SUBMISSION)
def test_webhook(endpoint_id: str) -> Response[dict[str, Any]]:
    """Send a `webhook.test` event."""
    return submitted(_service().test(routes.tenant, endpoint_id, _request_key()))


@router.get(
    "/api/v1/webhooks/<endpoint_id>/deliveries",
    **declared(Scope.READ, Permission.VIEW_WEBHOOKS, {200: DeliveryList}, FeatureDisabled),
)
def list_deliveries(
    endpoint_id: str, limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> DeliveryList:
    """List a webhook's deliveries of the last 30 days, newest first.

    The id `default` selects the `webhook_url`s of single jobs.
    """
    page = _webhooks().deliveries(routes.tenant, endpoint_id, position_of(cursor), limit)
    accounts = _may_read_accounts()
    return DeliveryList.page(page, lambda line: delivery_view(line, accounts=accounts))


@router.post("/api/v1/webhooks/<endpoint_id>/deliveries/<delivery_id>/redeliver", **_SUBMISSION)
def redeliver(endpoint_id: str, delivery_id: str) -> Response[dict[str, Any]]:
    """Send the message again, under the same message id."""
    return submitted(_service().redeliver(routes.tenant, endpoint_id, delivery_id, _request_key()))


def _may_write() -> bool:
    """Return whether the caller may change URLs, and so may see the secrets in them."""
    return routes.principal.may_use(Scope.WRITE, Permission.MANAGE_WEBHOOKS)


def _may_read_accounts() -> bool:
    """Return whether the caller may list events of accounts."""
    return routes.principal.may_use(Scope.ADMIN, Permission.MANAGE_USERS)


def _webhooks() -> WebhookService:
    """Return the service. Raises FeatureDisabled."""
    webhooks = _service()
    webhooks.require_enabled()
    return webhooks


def _service() -> WebhookService:
    return routes.services.webhooks


def _shown_once() -> WebhookService:
    """Return the service for a request whose answer has a secret. Raises ValidationFailed."""
    refuse_request_key(router)
    return _webhooks()


def _request_key() -> RequestKey | None:
    """Return the key, scoped by the path with its ids, since these requests have no body."""
    return request_key(router, routes.principal, router.current_event.path)
