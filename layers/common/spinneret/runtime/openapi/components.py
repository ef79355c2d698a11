"""Components that the document's operations share: credentials, errors, headers."""

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
        "Crawl, search and monitor the web.\n\n"
        "**Credentials.** Send an API key in `X-API-Key` or as bearer token, or a person's access "
        "token as bearer token. If both headers are present, only `Authorization` is used. "
        "`x-scope` is the scope that an operation requires of a key: `admin` includes `write`, "
        "`write` includes `read`. `x-permission` is the permission that it requires: a person has "
        "it by the role, and a key may be narrowed to some. Objects of other tenants give the "
        "same response as missing ones.\n\n"
        "**Errors** have one schema, `Error`; `code` is stable, `error` is for people. A path "
        "without the method gives 405, and `Allow` lists the methods that it has.\n\n"
        "**Lists** take `limit` and an opaque `cursor`: pass `next_cursor` while `has_more` is "
        "true. There are no offsets.\n\n"
        "**Rate limits** apply per key and minute. Every request counts, whatever its response."
    ),
    "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
}
SERVERS: Final = [{"url": "../..", "description": "The stage that serves this document."}]
_UNCOUNTED: Final = (401,)  # refused before the caller is known
RATE_HEADERS: Final = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")

_SECURITY_SCHEMES: Final = {
    "ApiKey": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "Bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key, or a person's access token.",
    },
    "Ticket": {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "Short-lived access to one job, for clients that can't send headers.",
    },
}
_FIELD_ERROR: Final = {
    "type": "object",
    "description": "One invalid field. Some codes add more, such as `line` and `column` of JSON.",
    "properties": {
        "path": {
            "type": "string",
            "description": "Field, parameter or header; dots between levels, such as `urls.0`.",
        },
        "message": {"type": "string", "description": "Fault, for people; may change."},
        "hint": {"type": ["string", "null"], "description": "Remedy, if one is known."},
    },
    "required": ["path", "message", "hint"],
}
_HEADERS: Final = {
    "RateLimit-Limit": ("Requests per minute that the key may send.", "integer"),
    "RateLimit-Remaining": ("Requests that would be accepted now.", "integer"),
    "RateLimit-Reset": ("Seconds until further requests are accepted.", "integer"),
    "Retry-After": ("Seconds to wait before a retry.", "integer"),
    "WWW-Authenticate": (
        "`Bearer`. API Gateway passes it on as `x-amzn-Remapped-WWW-Authenticate`.",
        "string",
    ),
    "Idempotent-Replayed": ("`true` if this replays the first response.", "string"),
}
_PARAMETERS: Final = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": (
            "Id of this request. For 24 hours, the same key with the same body replays the first "
            "response; with another body it is rejected."
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
            "Replaces the body: the `upload_id` of a body uploaded in the last 24 hours "
            "(`POST /api/v1/uploads`)."
        ),
        "required": False,
        "schema": {"type": "string"},
    },
    "LastEventId": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "Id of the last event received; the response contains later events.",
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
        return "Internal error; its cause is logged under the `request_id`."
    text = " ".join(str(error.__doc__).split())
    return without_origins(text).replace("`retry_after`", "`Retry-After`")


def _error_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "Error response.",
        "properties": {
            "error": {"type": "string", "description": "Message for people; may change."},
            "code": {
                "type": "string",
                "description": "Stable code of the error.",
                "enum": sorted({error.code for error in _tree()}),
            },
            "details": {
                "type": "object",
                "description": "Depends on the code; `fields` names invalid input.",
                "properties": {"fields": {"type": "array", "items": _FIELD_ERROR}},
            },
            "request_id": {"type": ["string", "null"], "description": "Id of the log entries."},
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
