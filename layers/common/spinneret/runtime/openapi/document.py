"""The API's document (OpenAPI 3.1): built from routes, error tree and models.

It is generated when the code changes, never in a function: `python docs/render.py` writes it to
`openapi.json` in this folder, and the core API serves that file.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.api_gateway import Route

from spinneret.kernel import errors
from spinneret.kernel.errors import (
    AuthRequired,
    BodyTooLarge,
    DependencyUnavailable,
    DomainError,
    Forbidden,
    NotFound,
    RateLimited,
    TenantSuspended,
    ValidationFailed,
)
from spinneret.runtime.http.access import RouteAccess, access_of, routes_of
from spinneret.runtime.http.declaration import ERRORS, EXAMPLES, IDEMPOTENT, Examples
from spinneret.runtime.openapi import components as openapi_components
from spinneret.runtime.openapi.areas import AREA, area_of
from spinneret.runtime.openapi.common_fields import PARAMETERS
from spinneret.runtime.openapi.schemas import tidied, with_notes, without_null

VERSION: Final = "0.1.0"  # of the API; the product's releases have the same version

_METHODS: Final = ("get", "put", "post", "delete", "patch")
_POWERTOOLS_OWN: Final = frozenset(
    {"HTTPValidationError", "ValidationError", "ResponseValidationError"}
)
_EVENTS: Final = "text/event-stream"
_ROUTES: Final = "_routes"


class DocumentConflict(ValueError):
    """Raised when two parts of the code claim the same place in the document."""


@dataclass(frozen=True, kw_only=True)
class _Operation:
    """One route with its declaration and the parts that powertools reads from its signature."""

    route: Route
    row: RouteAccess
    drawn: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Operation id: the function's name, unless the route sets one."""
        name, given = self.route.func.__name__, str(self.route.operation_id)
        automatic = re.sub(r"\W", "_", name + self.route.openapi_path)
        return name if given == f"{automatic}_{self.route.method.lower()}" else given

    @property
    def tag(self) -> str:
        """Name of the module that contains the route."""
        return str(self.route.func.__module__).rpartition(".")[2].removesuffix(_ROUTES)

    @property
    def idempotent(self) -> bool:
        """Whether the route takes an Idempotency-Key."""
        return bool(self._declared[IDEMPOTENT])

    @property
    def resumable(self) -> bool:
        """Whether the route takes a Last-Event-ID."""
        return any(_EVENTS in each.get("content", ()) for each in self.answers.values())

    @property
    def answers(self) -> dict[int, Mapping[str, Any]]:
        """Successful responses, by status."""
        given = {int(status): each for status, each in self.drawn["responses"].items()}
        declared = self.route.responses or {}
        return {
            status: given[status] for status in sorted(given) if status in declared or status == 200
        }

    @property
    def shown(self) -> Examples:
        """Examples by their names."""
        shown: Examples = self._declared[EXAMPLES]
        return shown

    @property
    def _declared(self) -> Mapping[str, Any]:
        return self.route.openapi_extensions or {}

    @property
    def errors(self) -> list[type[DomainError]]:
        """Errors that the route may return: by its scope, its input, and its own declaration."""
        found: list[type[DomainError]] = [DomainError]
        if self.row.scope is not None:
            found += [AuthRequired, Forbidden, TenantSuspended, RateLimited, DependencyUnavailable]
        places = {each["in"] for each in self.drawn.get("parameters", ())}
        body = "requestBody" in self.drawn
        if "path" in places:
            found.append(NotFound)
        if "query" in places or body or self.idempotent or self.resumable:
            found.append(ValidationFailed)
        if body:
            found += [BodyTooLarge, NotFound]  # an upload
        found += [getattr(errors, name) for name in self._declared[ERRORS]]
        return list(dict.fromkeys(found))


def document(apps: Iterable[APIGatewayRestResolver]) -> dict[str, Any]:
    """Return one document for all resolvers.

    Raises DocumentConflict for a duplicate route, operation id or model name, and LookupError for
    a route that declares nothing.
    """
    schemas: dict[str, Any] = {}
    operations: list[_Operation] = []
    for app in apps:
        drawn = app.get_openapi_schema(title="", version=VERSION).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        for name, schema in drawn.get("components", {}).get("schemas", {}).items():
            if schemas.setdefault(name, schema) != schema:
                raise DocumentConflict(f"two models are called {name}")
        operations += _operations(app, drawn["paths"])
    own = {name: schemas[name] for name in schemas if name not in _POWERTOOLS_OWN}
    paths = _paths(operations)
    return {
        "openapi": "3.1.0",
        "info": {**openapi_components.INFO, "version": VERSION},
        "servers": openapi_components.SERVERS,
        "tags": _tags(operations),
        "paths": paths,
        "components": openapi_components.components(with_notes(tidied(own)), paths),
    }


def text_of(described: Mapping[str, Any]) -> str:
    """Return the document in its stored form."""
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _operations(app: APIGatewayRestResolver, paths: Mapping[str, Any]) -> Iterator[_Operation]:
    for route in routes_of(app):
        drawn = paths[route.openapi_path][route.method.lower()]
        yield _Operation(route=route, row=access_of(route), drawn=drawn)


def _tags(operations: Iterable[_Operation]) -> list[dict[str, str]]:
    """Return a tag for each module of routes, described by its docstring, in its area."""
    modules = {each.tag: sys.modules[each.route.func.__module__] for each in operations}
    return [
        {
            "name": tag,
            "description": _first_upper(str(module.__doc__).removeprefix("Routes: ")),
            AREA: area_of(module.__name__.partition(".")[0]),
        }
        for tag, module in sorted(modules.items())
    ]


def _paths(operations: Iterable[_Operation]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    ids: set[str] = set()
    for each in operations:
        methods = paths.setdefault(each.route.openapi_path, {})
        method = each.route.method.lower()
        if method in methods:
            raise DocumentConflict(f"{each.route.method} {each.route.path} is there twice")
        if each.id in ids:
            raise DocumentConflict(f"two operations are called {each.id}: give one an operation_id")
        ids.add(each.id)
        methods[method] = _described(each)
    return {
        path: {method: paths[path][method] for method in _METHODS if method in paths[path]}
        for path in sorted(paths)
    }


def _described(operation: _Operation) -> dict[str, Any]:
    summary, _, description = re.sub(
        r"\.\s+|\.$", "\0", str(operation.route.func.__doc__).strip(), count=1
    ).partition("\0")
    described: dict[str, Any] = {
        "tags": [operation.tag],
        "summary": " ".join(summary.split()),
        "description": re.sub(r"[ \t]*\n[ \t]*", "\n", description.strip()),
        "operationId": operation.id,
        "security": openapi_components.security(operation.row),
        "x-scope": operation.row.scope,
        "x-permission": operation.row.permission,
        "parameters": [*_parameters(operation)],
        "requestBody": _request(operation),
    }
    kept = {name: value for name, value in described.items() if value or name == "security"}
    return {**kept, "responses": _responses(operation)}


def _request(operation: _Operation) -> dict[str, Any]:
    body: dict[str, Any] = tidied(operation.drawn.get("requestBody", {}))
    values = {name: each["request"] for name, each in operation.shown.items()}
    return {**body, "content": _with_examples(body["content"], values)} if body else {}


def _with_examples(
    content: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the media types, with the values as their examples."""
    shown = {"examples": {name: {"value": value} for name, value in values.items()}}
    return {name: {**each, **(shown if values else {})} for name, each in content.items()}


def _parameters(operation: _Operation) -> Iterator[dict[str, Any]]:
    for each in operation.drawn.get("parameters", ()):
        note = PARAMETERS.get(each["name"])
        yield {
            "name": each["name"],
            "in": each["in"],
            **({"description": note} if note else {}),
            "required": each["required"],
            "schema": without_null(tidied(each["schema"])),
        }
    if operation.idempotent:
        yield openapi_components.reference("parameters", "IdempotencyKey")
    if "requestBody" in operation.drawn:
        yield openapi_components.reference("parameters", "UploadId")
    if operation.resumable:
        yield openapi_components.reference("parameters", "LastEventId")


def _responses(operation: _Operation) -> dict[str, Any]:
    by_status: dict[int, list[type[DomainError]]] = {}
    for error in operation.errors:
        by_status.setdefault(error.status, []).append(error)
    refusals = {status: openapi_components.refusal(found) for status, found in by_status.items()}
    answers = {status: _answer(operation, status) for status in operation.answers}
    found = refusals | answers
    return {str(status): found[status] for status in sorted(found)}


def _answer(operation: _Operation, status: int) -> dict[str, Any]:
    headers = openapi_components.RATE_HEADERS if operation.row.scope is not None else ()
    replayed = ("Idempotent-Replayed",) if operation.idempotent else ()
    is_usual = status == max(operation.answers)  # 202; 200 is for requests that wait
    values = {name: each["answer"] for name, each in operation.shown.items()} if is_usual else {}
    content = _with_examples(tidied(operation.answers[status].get("content", {})), values)
    described = {
        "description": HTTPStatus(status).phrase,
        "headers": openapi_components.headers(*headers, *replayed),
        "content": content,
    }
    return {name: value for name, value in described.items() if value}


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]
