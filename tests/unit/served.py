"""A domain's routes and services, behind the resolver that serves them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver
from aws_lambda_powertools.event_handler.api_gateway import Router

from spinneret.access.keys.models import Principal, Scope
from spinneret.runtime.http.entrypoint import resolver
from spinneret.runtime.http.routes import PRINCIPAL, SERVICES
from tests.unit.runtime.api import Answer, Invocation


@dataclass(frozen=True)
class Served:
    """One router; the caller is already authenticated."""

    router: Router
    services: Any

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        tenant: str = "acme",
        headers: Mapping[str, str] | None = None,
        **query: str,
    ) -> Answer:
        """Send a request in the form in which the entry point passes it on."""
        app = _app(self.router)
        caller = Principal(tenant=tenant, key_id="key_1", scopes=frozenset({Scope.ADMIN}))
        app.context.update({SERVICES: lambda _: self.services, PRINCIPAL: caller})
        event = {
            "httpMethod": method,
            "path": path,
            "headers": {"content-type": "application/json", **(headers or {})},
            "multiValueHeaders": None,
            "queryStringParameters": query or None,
            "multiValueQueryStringParameters": {name: [text] for name, text in query.items()},
            "requestContext": {"requestId": "request-1"},
            "body": body if body is None or isinstance(body, str) else json.dumps(body),
            "isBase64Encoded": False,
        }
        answer = app.resolve(event, Invocation())  # type: ignore[arg-type]  # stands for LambdaContext
        many = answer.get("multiValueHeaders", {})
        shown = {name: values[-1] for name, values in many.items()} | answer.get("headers", {})
        return Answer(answer["statusCode"], shown, answer["body"])


@cache
def _app(router: Router) -> APIGatewayRestResolver:
    """Return the resolver of a router, which serves one request after the other, as a function's
    does.

    It is cached, so that the models of its routes are built only once.
    """
    app = resolver()
    app.include_router(router)
    return app
