"""Authentication and authorization of a request, before any validation of it.

Authentication happens inside the function, so that it is the same behind API Gateway, LocalStack
and `sam local`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from spinneret.access.keys.models import Principal, RateLimitStatus
from spinneret.access.keys.secrets import credential_refused
from spinneret.access.keys.service import KeyService
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import (
    AuthRequired,
    BodyTooLarge,
    Forbidden,
    MethodNotAllowed,
    NotFound,
    RateLimited,
)
from spinneret.runtime import limits
from spinneret.runtime.http.access import RouteAccess

Event = dict[str, Any]
TICKET_PARAMETER: Final = "ticket"


@dataclass(frozen=True, kw_only=True)
class Admission:
    """A request of a known caller, or of an open route."""

    row: RouteAccess | None = None
    """Row of the route in the access table; None if there is no such route."""
    principal: Principal | None = None
    """Caller; None on open routes."""
    allowance: RateLimitStatus | None = None
    """Rate limit status; None on open routes, and if counting failed."""


def identify(event: Event, row: RouteAccess | None, keys: KeyService) -> Admission:
    """Check size, route and credential, in this order, and count a known caller's request.

    `event` has lower-case header names. Raises BodyTooLarge, AuthRequired and
    DependencyUnavailable.
    """
    body = event.get("body") or ""
    if len(body.encode("utf-8", "surrogatepass")) > limits.REQUEST_BODY_MAX_BYTES:
        raise BodyTooLarge(
            f"a request carries at most {limits.REQUEST_BODY_MAX_BYTES} bytes of body; "
            "POST /api/v1/uploads takes larger ones"
        )
    if row is not None and row.scope is None:
        return Admission(row=row)
    principal = _principal(event, row, keys)
    return Admission(row=row, principal=principal, allowance=keys.take(principal))


def require_permission(admission: Admission, path: str, methods: Sequence[str]) -> None:
    """Check rate, route, scope, permission and, for a ticket, the job, in this order.

    `methods` are all that the path has. Raises RateLimited, NotFound, MethodNotAllowed and
    Forbidden.
    """
    row, principal = admission.row, admission.principal
    require_room(admission.allowance)
    if row is None and methods:
        raise MethodNotAllowed(
            f"the path takes {', '.join(methods)}", details={"allowed": list(methods)}
        )
    if row is None:
        raise NotFound("no such route")
    if principal is None or row.scope is None or row.permission is None:
        return
    if principal.role is None and not principal.may(row.scope):
        raise Forbidden(f"the key lacks the scope {row.scope}")
    if row.permission not in principal.permissions:
        raise _lacking(row.permission)
    shown = principal.job_id
    if shown is not None and shown not in (row.parameters(path) or {}).values():
        raise NotFound("no such job")


def socket_caller(event: Event, keys: KeyService) -> Principal:
    """Return the caller that opens a WebSocket, by a header or by the ticket that browsers must
    use.

    Raises AuthRequired, Forbidden, RateLimited and DependencyUnavailable.
    """
    headers = {name.lower(): value for name, value in (event.get("headers") or {}).items()}
    secret = _secret({"headers": headers})
    if secret is None:
        principal = keys.redeem((event.get("queryStringParameters") or {}).get(TICKET_PARAMETER))
    else:
        principal = keys.authenticate(secret)
        if not keys.holds(principal):  # its end closed its connections, and would miss this one
            raise credential_refused()
    require_room(keys.take(principal))
    if Permission.VIEW_JOBS not in principal.permissions:
        raise _lacking(Permission.VIEW_JOBS)
    return principal


def require_room(allowance: RateLimitStatus | None) -> None:
    """Raise RateLimited for a request that wasn't admitted."""
    if allowance is not None and not allowance.admitted:
        raise RateLimited(
            f"over {allowance.limit} requests per minute", retry_after=allowance.reset_seconds
        )


def rate_headers(allowance: RateLimitStatus | None) -> dict[str, str]:
    """Return the fields of draft-ietf-httpapi-ratelimit-headers-06, without the policy."""
    if allowance is None:
        return {}
    return {
        "RateLimit-Limit": str(allowance.limit),
        "RateLimit-Remaining": str(allowance.remaining),
        "RateLimit-Reset": str(allowance.reset_seconds),
    }


def _lacking(permission: Permission) -> Forbidden:
    return Forbidden(f"the caller lacks the permission {permission}")


def _principal(event: Event, row: RouteAccess | None, keys: KeyService) -> Principal:
    """Return the caller by the key in a header or, if the route allows it, by the ticket in the
    query.
    """
    secret = _secret(event)
    if secret is None and row is not None and row.ticket:
        return keys.redeem((event.get("queryStringParameters") or {}).get(TICKET_PARAMETER))
    return keys.authenticate(secret)


def _secret(event: Event) -> str | None:
    """Return the credential, or None; an Authorization header takes precedence, even if invalid.

    Raises AuthRequired for an Authorization header of another form than `Bearer <key>`.
    """
    headers = event["headers"]
    authorization = headers.get("authorization")
    if authorization is not None:
        scheme, _, token = str(authorization).partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise AuthRequired(
                "the Authorization header must have the form: Bearer <API key>, or an access token"
            )
        return token.strip()
    secret = headers.get("x-api-key")
    return str(secret) if secret else None
