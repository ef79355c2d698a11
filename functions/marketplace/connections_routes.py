"""Routes: sellers' OAuth connections, and webhooks of marketplaces."""

from urllib.parse import urlencode

from aws_lambda_powertools.event_handler import Response

from marketplace.marketplace_examples import PREFERENCES
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel import bounds
from spinneret.kernel.errors import (
    AuthRequired,
    Conflict,
    Contended,
    DomainError,
    MarketplaceRefused,
    MarketplaceUnavailable,
    MarketplaceUnsupported,
    ReauthNeeded,
)
from spinneret.marketplace.connections.api_models import ConnectionView, ConsentView
from spinneret.marketplace.preferences.api_models import (
    ChoicesView,
    ChoiceView,
    OptionView,
    PreferencesChange,
    PreferencesView,
)
from spinneret.marketplace.wiring import marketplace_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes

routes = Routes(marketplace_api)
router = routes.router


@router.post(
    "/api/marketplace/<marketplace>/connect",
    **declared(Scope.ADMIN, Permission.MANAGE_CONNECTIONS, {200: ConsentView}, Conflict),
)
def connect_marketplace(marketplace: str) -> ConsentView:
    """Return the URL at which the seller authorizes access.

    The marketplace then redirects the seller's browser to the callback.
    """
    url = routes.services.connections.begin(routes.tenant, marketplace)
    return ConsentView(authorization_url=url, expires_in=bounds.OAUTH_STATE_SECONDS)


@router.get(
    "/api/marketplace/<marketplace>/callback",
    **declared(None, None, {302: None}, AuthRequired, ReauthNeeded, MarketplaceUnavailable),
)
def finish_connection(
    marketplace: str,
    state: str | None = None,
    code: str | None = None,
    error: str | None = None,
    error_description: str | None = None,  # noqa: ARG001 - sent by marketplaces, shown by them
    expires_in: str | None = None,  # noqa: ARG001 - the code's; sent by eBay
) -> Response[None]:
    """Complete a connection after the marketplace's redirect.

    `state` identifies the seller and is valid once.
    """
    outcome = {"marketplace": marketplace, "connected": "true"}
    try:
        if error or not code or not state:
            raise AuthRequired("the seller didn't agree")
        routes.services.connections.finish(marketplace, state, code)
    except DomainError as refused:
        outcome = {"marketplace": marketplace, "connected": "false", "error": refused.code}
    target = f"{routes.services.return_url}?{urlencode(outcome)}"
    return Response(status_code=302, headers={"Location": target, "Cache-Control": "no-store"})


@router.get(
    "/api/marketplace/<marketplace>/connection", **declared(Scope.READ, Permission.VIEW_CONNECTIONS)
)
def get_connection(marketplace: str) -> ConnectionView:
    """Return whether the seller's authorization is valid, never its tokens."""
    return ConnectionView.of(routes.services.connections.get(routes.tenant, marketplace))


@router.delete(
    "/api/marketplace/<marketplace>/connection",
    **declared(Scope.ADMIN, Permission.MANAGE_CONNECTIONS, {204: None}, Conflict),
)
def end_connection(marketplace: str) -> Response[None]:
    """Revoke the authorization and delete its tokens."""
    routes.services.connections.end(routes.tenant, marketplace)
    return Response(status_code=204)


@router.get(
    "/api/marketplace/<marketplace>/preferences",
    **declared(Scope.READ, Permission.VIEW_CONNECTIONS),
)
def get_preferences(marketplace: str) -> PreferencesView:
    """Return how the seller sells on a marketplace."""
    found = routes.services.preferences.get(routes.tenant, marketplace)
    return PreferencesView.of(found)


@router.patch(
    "/api/marketplace/<marketplace>/preferences",
    **declared(
        Scope.WRITE,
        Permission.MANAGE_CONNECTIONS,
        {200: PreferencesView},
        Contended,
        examples=PREFERENCES,
    ),
)
def change_preferences(marketplace: str, request: PreferencesChange) -> PreferencesView:
    """Pause or resume selling on a marketplace, or change its rules; omitted ones are kept.

    Plans show what the rules change. Listings change with their next publication or update.
    """
    changed = routes.services.preferences.change(
        routes.tenant,
        marketplace,
        request.is_paused,
        request.changes(),
        request.choices,
    )
    return PreferencesView.of(changed)


@router.get(
    "/api/marketplace/<marketplace>/choices",
    **declared(
        Scope.READ,
        Permission.VIEW_CONNECTIONS,
        {200: ChoicesView},
        MarketplaceRefused,
        MarketplaceUnavailable,
        MarketplaceUnsupported,
        ReauthNeeded,
        Contended,
    ),
)
def list_choices(marketplace: str, site: str | None = None) -> ChoicesView:
    """List the policies, locations, profiles and sections of the seller's account, read now.

    `site` is a marketplace of eBay, by default EBAY_DE, to which policies belong.
    """
    choosing, options, wanted = routes.services.choices.read(routes.tenant, marketplace, site)
    return ChoicesView(
        marketplace=marketplace,
        site=wanted,
        items=[
            ChoiceView(
                name=name,
                description=choosing.names[name],
                options=[OptionView.of(each) for each in found],
            )
            for name, found in options.items()
        ],
    )


@router.post(
    "/api/marketplace/webhooks/<marketplace>",
    **declared(None, None, {204: None}, AuthRequired, signed=True),
)
def receive_webhook(marketplace: str) -> Response[None]:
    """Import the seller's orders after one was paid or cancelled.

    The request is signed by the marketplace.
    """
    event = router.current_event
    routes.services.reports.receive(marketplace, event.headers, event.body or "")
    return Response(status_code=204)
