"""Routes: the web console, whose pages call the other routes of this API."""

from aws_lambda_powertools.event_handler import Response

from spinneret.runtime.console.site import ICON, PAGE, site
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.routes import Routes
from spinneret.runtime.http.static_text import text_response

routes = Routes(site)
router = routes.router


@router.get("/console", **declared(None, None, {307: None}))
def open_console() -> Response[None]:
    """Redirect to the console's page."""
    return Response(status_code=307, headers={"Location": f"console/{PAGE}"})


@router.get(f"/console/{PAGE}", **declared(None, None, {200: "text/html", 304: None}))
def get_console_page() -> Response[str]:
    """Return the console's page."""
    return text_response(routes.services().page, router.current_event.headers)


@router.get(f"/console/{ICON}", **declared(None, None, {200: "image/svg+xml", 304: None}))
def get_console_icon() -> Response[str]:
    """Return the console's icon."""
    return text_response(routes.services().icon, router.current_event.headers)


@router.get(
    "/console/<version>/<folder>/<file_name>",
    **declared(None, None, {200: "text/plain", 304: None}),
)
def get_console_file(version: str, folder: str, file_name: str) -> Response[str]:
    """Return a script or style of the console's current version."""
    served = routes.services().part(version, f"{folder}/{file_name}")
    return text_response(served, router.current_event.headers)
