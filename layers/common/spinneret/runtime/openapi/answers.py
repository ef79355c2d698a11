"""What a route declares for the API's document beyond what its signature says.

What follows from the signature, the path and the access table is added by `runtime.openapi`: the
answer 200 of a route that returns a model, and the errors that any such route may answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from aws_lambda_powertools.event_handler.openapi.types import OpenAPIResponse

from spinneret.kernel.errors import DomainError

ERRORS: Final = "x-errors"
IDEMPOTENT: Final = "x-idempotent"


class Declaration(TypedDict):
    """Keyword arguments of a route's decorator."""

    responses: dict[int, OpenAPIResponse]
    openapi_extensions: dict[str, Any]


def answers(
    given: Mapping[int, Any], *errors: type[DomainError], idempotent: bool = False
) -> Declaration:
    """`given` names each status's model, its media type where it is text, None without a body.

    `errors` are those of the route's own service; `idempotent` says that the route takes an
    Idempotency-Key.
    """
    return Declaration(
        responses={
            status: {"description": "", "content": _content(body)} for status, body in given.items()
        },
        openapi_extensions={
            ERRORS: [error.__name__ for error in errors],
            IDEMPOTENT: idempotent,
        },
    )


def _content(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    if isinstance(body, str):
        return {body: {"schema": {"type": "string"}}}
    return {"application/json": {"model": body}}
