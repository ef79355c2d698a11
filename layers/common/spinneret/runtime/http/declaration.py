"""Declarations of routes beyond their signature: scope, permission, answers, documentation.

    @router.post("/api/v1/things", **declared(Scope.WRITE, Permission.CRAWL, {201: Thing}))

The access table of a function (`runtime.http.access`) and the API's document
(`runtime.openapi.document`) are derived from them. The document adds what follows from signature
and path: the answer 200 of a route that returns a model, and the errors that any such route may
return.
"""

from collections.abc import Mapping
from typing import Any, Final, NotRequired, TypedDict

from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import DomainError

DECLARED: Final = "x-declared"
SCOPE: Final = "x-scope"
PERMISSION: Final = "x-permission"
TICKET: Final = "x-ticket"
SIGNED: Final = "x-signed"
ERRORS: Final = "x-errors"
IDEMPOTENT: Final = "x-idempotent"
EXAMPLES: Final = "x-examples"

Examples = Mapping[str, Mapping[str, Any]]
"""An example's name → `request` and `answer`, as JSON."""


class Declaration(TypedDict):
    """Keyword arguments of a route's decorator."""

    responses: NotRequired[dict[int, OpenAPIResponse]]
    openapi_extensions: dict[str, Any]


def declared(
    scope: Scope | None,
    permission: Permission | None,
    answers: Mapping[int, Any] | None = None,
    *errors: type[DomainError],
    ticket: bool = False,
    signed: bool = False,
    idempotent: bool = False,
    examples: Examples | None = None,
) -> Declaration:
    """Return the declaration of a route.

    `scope` is the required scope of a caller's key, `permission` what any caller must be allowed to
    do; both None open the route to everybody, and one alone raises ValueError. `answers` maps each
    status to its model, to its media type for text, or to None without a body. `errors` are errors
    of the route's own service. `ticket`: a ticket for the route's job, in the query, may replace a
    key. `signed`: the route reads the unchanged body, whose signature is the caller's credential.
    `idempotent`: the route takes an Idempotency-Key.
    """
    if (scope is None) != (permission is None):
        raise ValueError("a route declares a scope and a permission, or neither")
    declaration = Declaration(
        openapi_extensions={
            DECLARED: True,
            SCOPE: None if scope is None else str(scope),
            PERMISSION: None if permission is None else str(permission),
            TICKET: ticket,
            SIGNED: signed,
            ERRORS: [error.__name__ for error in errors],
            IDEMPOTENT: idempotent,
            EXAMPLES: dict(examples or {}),
        }
    )
    if answers is not None:
        declaration["responses"] = {
            status: {"description": "", "content": _content(body)}
            for status, body in answers.items()
        }
    return declaration


def _content(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    if isinstance(body, str):
        return {body: {"schema": {"type": "string"}}}
    return {"application/json": {"model": body}}
