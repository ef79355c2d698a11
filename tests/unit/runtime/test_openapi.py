"""Rules of the API's document, with routes made for these tests."""

from typing import Annotated, Any

import pytest
from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
from aws_lambda_powertools.event_handler.api_gateway import Router
from aws_lambda_powertools.event_handler.openapi.params import Query
from openapi_spec_validator import OpenAPIV31SpecValidator
from pydantic import BaseModel, Field

from core import api as core_api
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.kernel.errors import CircuitOpen, Conflict, UrlInvalid
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.entrypoint import resolver
from spinneret.runtime.openapi.common_fields import COMMON, PARAMETERS
from spinneret.runtime.openapi.document import DocumentConflict, document, text_of

Limit = Annotated[int, Query(ge=1, le=100)]


class Web(BaseModel):
    """A web (W-01)."""

    title: str
    strength: Annotated[float, Field(ge=0, le=10)] = 1.0


class Elsewhere:
    """Another area."""

    class Web(BaseModel):
        """Another web, of the same name."""

        colour: str


def get_web(web_id: str) -> Web:
    """One web.

    What it is made of
    isn't shown.
    """
    raise NotImplementedError(web_id)


def list_webs(kind: str | None = None, limit: Limit = 20) -> list[Web]:
    """Webs, newest first."""
    raise NotImplementedError(kind, limit)


def spin_web(web: Web) -> Response[dict[str, Any]]:
    """Spin a web. It takes a while."""
    raise NotImplementedError(web)


def watch_web(web_id: str) -> Response[str]:
    """Events of a web."""
    raise NotImplementedError(web_id)


def health() -> Web:
    """Alive."""
    raise NotImplementedError


SPUN: dict[str, Any] = {"title": "orb", "strength": 3.0}


def routes() -> Router:
    """Return a router with one route of each kind."""
    router = Router()  # type: ignore[no-untyped-call]  # published without a signature
    router.get("/webs/<web_id>", **declared(Scope.READ, Permission.CRAWL))(get_web)
    router.get("/webs", **declared(Scope.READ, Permission.CRAWL))(list_webs)
    spinning = declared(
        Scope.WRITE,
        Permission.CRAWL,
        {202: Web},
        UrlInvalid,
        Conflict,
        CircuitOpen,
        idempotent=True,
        examples={"an orb": {"request": {"title": "orb"}, "answer": SPUN}},
    )
    router.post("/webs", **spinning)(spin_web)
    streaming = declared(
        Scope.READ, Permission.CRAWL, {200: "text/event-stream", 204: None}, ticket=True
    )
    router.get("/webs/<web_id>/stream", **streaming)(watch_web)
    router.get("/health", **declared(None, None))(health)
    return router


def described(*routers: Router) -> dict[str, Any]:
    """Return the document of an app for each router."""
    return document([app_of(router) for router in routers])


def app_of(router: Router) -> APIGatewayRestResolver:
    """Return an app that serves a router."""
    app = resolver()
    app.include_router(router)
    return app


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return described(routes())


@pytest.fixture(scope="module")
def paths(whole: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = whole["paths"]
    return found


@pytest.mark.heavy
def test_it_is_valid_and_always_the_same(whole: dict[str, Any]) -> None:
    assert list(OpenAPIV31SpecValidator(whole).iter_errors()) == []
    assert text_of(described(routes())) == text_of(whole)


def test_a_docstring_is_summary_and_description(paths: dict[str, Any]) -> None:
    one, spin = paths["/webs/{web_id}"]["get"], paths["/webs"]["post"]
    assert (one["summary"], one["description"]) == (
        "One web",
        "What it is made of\nisn't shown.",
    )
    assert (spin["summary"], spin["description"]) == ("Spin a web", "It takes a while.")
    assert (one["operationId"], spin["operationId"]) == ("get_web", "spin_web")
    assert "description" not in paths["/health"]["get"]


@pytest.mark.parametrize(
    ("path", "method", "statuses"),
    [
        ("/health", "get", "200 500"),
        ("/webs", "get", "200 401 403 422 429 500 503"),
        ("/webs", "post", "202 400 401 403 404 409 413 422 429 500 503"),
        ("/webs/{web_id}", "get", "200 401 403 404 429 500 503"),
        ("/webs/{web_id}/stream", "get", "200 204 401 403 404 422 429 500 503"),
    ],
)
def test_an_operation_lists_the_statuses_that_it_may_have(
    paths: dict[str, Any], path: str, method: str, statuses: str
) -> None:
    assert list(paths[path][method]["responses"]) == statuses.split()


def test_errors_of_one_status_stand_together(paths: dict[str, Any]) -> None:
    responses = paths["/webs"]["post"]["responses"]
    assert "`CIRCUIT_OPEN`" in responses["503"]["description"]
    assert "`DEPENDENCY_UNAVAILABLE`" in responses["503"]["description"]
    assert responses["400"] == {"$ref": "#/components/responses/UrlInvalid"}
    assert responses["409"] == {"$ref": "#/components/responses/Conflict"}
    assert "Retry-After" in responses["503"]["headers"]


def test_retry_after_stands_where_a_new_try_makes_sense(whole: dict[str, Any]) -> None:
    responses = whole["components"]["responses"]
    assert [name for name in responses if "Retry-After" in responses[name]["headers"]] == [
        "RateLimited"
    ]


def test_who_is_not_known_is_told_how_to_say_who_they_are(whole: dict[str, Any]) -> None:
    responses = whole["components"]["responses"]
    assert [name for name in responses if "WWW-Authenticate" in responses[name]["headers"]] == [
        "AuthRequired"
    ]


def test_an_example_is_a_request_and_its_answer(paths: dict[str, Any]) -> None:
    spin = paths["/webs"]["post"]
    shown = spin["requestBody"]["content"]["application/json"]["examples"]
    assert shown == {"an orb": {"value": {"title": "orb"}}}
    assert spin["responses"]["202"]["content"]["application/json"]["examples"] == {
        "an orb": {"value": SPUN}
    }


def test_credentials_are_those_that_the_route_declares(paths: dict[str, Any]) -> None:
    assert paths["/health"]["get"]["security"] == []
    assert "x-scope" not in paths["/health"]["get"]
    assert paths["/webs"]["post"]["security"] == [{"ApiKey": []}, {"Bearer": []}]
    assert paths["/webs"]["post"]["x-scope"] == "write"
    assert {"Ticket": []} in paths["/webs/{web_id}/stream"]["get"]["security"]


def test_an_idempotent_operation_takes_the_key_and_marks_the_replay(paths: dict[str, Any]) -> None:
    spin = paths["/webs"]["post"]
    assert {"$ref": "#/components/parameters/IdempotencyKey"} in spin["parameters"]
    assert "Idempotent-Replayed" in spin["responses"]["202"]["headers"]
    assert "Idempotent-Replayed" not in paths["/webs"]["get"]["responses"]["200"]["headers"]


def test_a_stream_is_text_and_can_be_resumed(paths: dict[str, Any]) -> None:
    stream = paths["/webs/{web_id}/stream"]["get"]
    assert {"$ref": "#/components/parameters/LastEventId"} in stream["parameters"]
    assert stream["responses"]["200"]["content"] == {
        "text/event-stream": {"schema": {"type": "string"}}
    }
    assert "content" not in stream["responses"]["204"]


def test_rate_headers_stand_where_requests_are_counted(paths: dict[str, Any]) -> None:
    assert "headers" not in paths["/health"]["get"]["responses"]["200"]
    assert "RateLimit-Remaining" in paths["/webs"]["get"]["responses"]["200"]["headers"]


def test_schemas_are_without_noise(whole: dict[str, Any], paths: dict[str, Any]) -> None:
    assert whole["components"]["schemas"]["Web"] == {
        "type": "object",
        "description": "A web.",
        "properties": {
            "title": {"type": "string", "description": COMMON["title"]},
            "strength": {"type": "number", "minimum": 0, "maximum": 10, "default": 1.0},
        },
        "required": ["title"],
    }
    kind, limit = paths["/webs"]["get"]["parameters"]
    assert kind == {
        "name": "kind",
        "in": "query",
        "description": PARAMETERS["kind"],
        "required": False,
        "schema": {"type": "string"},
    }
    assert limit["schema"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
    assert set(whole["components"]["schemas"]) == {"Error", "Web"}


@pytest.mark.heavy
def test_the_fields_of_our_models_have_their_notes() -> None:
    fields = document([core_api.app])["components"]["schemas"]["IssuedKey"]["properties"]
    assert fields["prefix"]["description"] == "The secret's first characters."  # inherited
    assert fields["created_at"]["description"] == COMMON["created_at"]  # without a docstring


def test_a_route_that_declares_nothing_is_an_error() -> None:
    bare = routes()
    bare.get("/alive", operation_id="alive")(health)
    with pytest.raises(LookupError, match="GET /alive"):
        described(bare)


def test_a_route_that_two_functions_have_is_an_error() -> None:
    with pytest.raises(DocumentConflict, match="GET /webs"):
        described(routes(), routes())


@pytest.mark.heavy
def test_two_operations_of_one_name_are_an_error_until_one_is_named() -> None:
    alias = routes()
    alias.get("/alive", **declared(None, None))(health)
    with pytest.raises(DocumentConflict, match="health"):
        described(alias)
    named = routes()
    named.get("/alive", operation_id="alive", **declared(None, None))(health)
    assert described(named)["paths"]["/alive"]["get"]["operationId"] == "alive"


def test_two_models_of_one_name_are_an_error() -> None:
    def get_other() -> Elsewhere.Web:
        """Another one."""
        raise NotImplementedError

    other = Router()  # type: ignore[no-untyped-call]  # published without a signature
    other.get("/other", **declared(None, None))(get_other)
    with pytest.raises(DocumentConflict, match="Web"):
        described(routes(), other)
