"""Components that the document's operations share: credentials, errors, headers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from spinneret.kernel import errors
from spinneret.kernel.errors import AuthRequired, DomainError, TransientError
from spinneret.runtime import limits
from spinneret.runtime.http.access import RouteAccess
from spinneret.runtime.openapi.schemas import without_origins

INFO: Final = {
    "title": "Spinneret",
    "description": (
        "Crawl, search and watch the web.\n\n"
        "**Credentials.** An API key in `X-API-Key` or as bearer token; an `Authorization` header "
        "counts alone. `x-scope` names the scope that an operation asks for: `admin` includes "
        "`write`, `write` includes `read`. Another tenant's object is answered as one that "
        "doesn't exist.\n\n"
        "**Errors** have one shape, `Error`; `code` is stable, `error` is for people.\n\n"
        "**Lists** take `limit` and an opaque `cursor`: pass `next_cursor` while `has_more` is "
        "true. There are no offsets.\n\n"
        "**Rates.** Requests are counted per key and minute, whatever they are answered."
    ),
    "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
}
SERVERS: Final = [{"url": "../..", "description": "The stage that this document is read from."}]
NOTES: Final[Mapping[str, str]] = {
    "limit": "How many items a page has at most.",
    "cursor": "`next_cursor` of the page before.",
}
_UNCOUNTED: Final = (401,)  # refused before the caller is known
RATE_HEADERS: Final = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")

_SECURITY_SCHEMES: Final = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "Bearer": {"type": "http", "scheme": "bearer", "description": "The API key as bearer token."},
    "Ticket": {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "For clients that can't send headers: shows one job, for a short time.",
    },
}
_HEADERS: Final = {
    "RateLimit-Limit": ("Requests that the key has per minute.", "integer"),
    "RateLimit-Remaining": ("Requests that would be admitted now.", "integer"),
    "RateLimit-Reset": ("Seconds until more are admitted.", "integer"),
    "Retry-After": ("Seconds after which a new try makes sense.", "integer"),
    "WWW-Authenticate": (
        "`Bearer`. API Gateway passes it on as `x-amzn-Remapped-WWW-Authenticate`.",
        "string",
    ),
    "Idempotent-Replayed": ("`true` when this is the first answer again.", "string"),
}
_PARAMETERS: Final = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": (
            "Names this request: the same key with the same body gets the first answer "
            "again for 24 hours, and with another is refused."
        ),
        "required": False,
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": limits.IDEMPOTENCY_KEY_MAX_CHARS,
        },
    },
    "UploadId": {
        "name": "Upload-Id",
        "in": "header",
        "description": (
            "Instead of a body: the `upload_id` of one that was uploaded (`POST /api/v1/uploads`) "
            "within a day."
        ),
        "required": False,
        "schema": {"type": "string"},
    },
    "LastEventId": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "The id of the last event seen: the answer has those after it.",
        "required": False,
        "schema": {"type": "string", "pattern": "^[0-9]{8}-[0-9]{6}$"},
    },
}


def components(schemas: Mapping[str, Any], paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return the components that the paths refer to; `schemas` are the models' schemas."""
    referring = json.dumps(paths)
    own = {"Error": _error_schema(), **schemas}
    return {
        "securitySchemes": _SECURITY_SCHEMES,
        "parameters": _PARAMETERS,
        "headers": {
            name: {"description": note, "schema": {"type": kind}}
            for name, (note, kind) in _HEADERS.items()
        },
        "responses": {
            error.__name__: _refusal([error])
            for error in sorted(_tree(), key=lambda each: each.__name__)
            if json.dumps(reference("responses", error.__name__)) in referring
        },
        "schemas": {name: own[name] for name in sorted(own)},
    }


def reference(kind: str, name: str) -> dict[str, str]:
    """Return a reference to a component."""
    return {"$ref": f"#/components/{kind}/{name}"}


def headers(*names: str) -> dict[str, Any]:
    """Return references to headers by their names."""
    return {name: reference("headers", name) for name in names}


def security(row: RouteAccess) -> list[dict[str, list[str]]]:
    """Return the alternative credentials of a route; an empty list means that it needs no
    credential.
    """
    if row.scope is None:
        return []
    taken = ("ApiKey", "Bearer", "Ticket") if row.ticket else ("ApiKey", "Bearer")
    return [{name: []} for name in taken]


def refusal(found: Sequence[type[DomainError]]) -> dict[str, Any]:
    """Return the response of a status, which may have several errors."""
    if len(found) == 1:
        return reference("responses", found[0].__name__)
    return _refusal(found)


def _refusal(found: Sequence[type[DomainError]]) -> dict[str, Any]:
    challenge = ["WWW-Authenticate"] if AuthRequired in found else []
    later = ["Retry-After"] if any(issubclass(error, TransientError) for error in found) else []
    rates = () if found[0].status in _UNCOUNTED else RATE_HEADERS
    return {
        "description": "\n\n".join(f"`{error.code}`: {_meaning(error)}" for error in found),
        "headers": headers(*rates, *challenge, *later),
        "content": {"application/json": {"schema": reference("schemas", "Error")}},
    }


def _meaning(error: type[DomainError]) -> str:
    if error is DomainError:
        return "Nothing of what went wrong is shown; it is logged under the `request_id`."
    text = " ".join(str(error.__doc__).split())
    return without_origins(text).replace("`retry_after`", "`Retry-After`")


def _error_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "Why a request was refused or failed.",
        "properties": {
            "error": {"type": "string", "description": "For people; may change."},
            "code": {"type": "string", "enum": sorted({error.code for error in _tree()})},
            "details": {
                "type": "object",
                "description": "Depends on the code; `fields` names what was refused in the input.",
            },
            "request_id": {"type": ["string", "null"], "description": "Names the log entries."},
        },
        "required": ["error", "code", "details", "request_id"],
        "additionalProperties": False,
    }


def _tree(root: type[DomainError] = DomainError) -> Iterator[type[DomainError]]:
    """Yield the error classes of the kernel."""
    if root.__module__ == errors.__name__:
        yield root
    for each in root.__subclasses__():
        yield from _tree(each)
