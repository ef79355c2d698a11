"""Access rules that routes declare; a route without a declaration isn't served."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.api_gateway import Route

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.runtime.http.declaration import DECLARED, PERMISSION, SCOPE, SIGNED, TICKET

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode's category Cc


@dataclass(frozen=True)
class RouteAccess:
    """One route and what it requires of its caller."""

    method: str
    route: str
    scope: Scope | None
    """Required scope of a key; None opens the route to everybody."""
    permission: Permission | None = None
    """Required permission of any caller; None exactly if the scope is."""
    ticket: bool = False
    """Whether a ticket for the route's job, in the query, may replace a key."""
    signed: bool = False
    """Whether the route reads the unchanged body, to verify its signature."""

    def parameters(self, path: str) -> Mapping[str, str] | None:
        """Return the parameters of this route's path, each one segment; None for other paths."""
        found = self._pattern.fullmatch(path)
        return found.groupdict() if found else None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"<(\w+)>", r"(?P<\1>[^/]+)", self.route))


class AccessTable:
    """The routes of one function."""

    def __init__(self, rows: Iterable[RouteAccess]) -> None:
        self.rows = tuple(rows)

    def find(self, method: str, path: str) -> RouteAccess | None:
        """Return the row for a request; None if no route serves it.

        No route has control characters, though a pattern may match them.
        """
        if _CONTROL.search(path):
            return None
        for row in self.rows:
            if row.method == method and row.parameters(path) is not None:
                return row
        return None

    def methods(self, path: str) -> tuple[str, ...]:
        """Return the methods that a path has, in alphabetical order; HEAD comes with GET."""
        if _CONTROL.search(path):
            return ()
        found = {row.method for row in self.rows if row.parameters(path) is not None}
        return tuple(sorted({*found, "HEAD"} if "GET" in found else found))


def routes_of(app: APIGatewayRestResolver) -> list[Route]:
    """Return all routes of a resolver, in its matching order."""
    return [*app._static_routes, *app._dynamic_routes]  # noqa: SLF001 - powertools lists them nowhere else


def access_of(route: Route) -> RouteAccess:
    """Return what a route declares. Raises LookupError if it declares nothing."""
    extensions = route.openapi_extensions or {}
    if not extensions.get(DECLARED):
        raise LookupError(f"{route.method} {route.path}: add **declared(…) to its decorator")
    scope, permission = extensions[SCOPE], extensions[PERMISSION]
    return RouteAccess(
        method=route.method,
        route=route.path,
        scope=None if scope is None else Scope(scope),
        permission=None if permission is None else Permission(permission),
        ticket=extensions[TICKET],
        signed=extensions[SIGNED],
    )


def access_table(app: APIGatewayRestResolver) -> AccessTable:
    """Return the table of a resolver. Raises LookupError for a route that declares nothing."""
    return AccessTable(access_of(route) for route in routes_of(app))
