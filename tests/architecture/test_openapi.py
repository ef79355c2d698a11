"""The API's document is up to date and valid, and agrees with the code."""

import importlib
import json
import re
import runpy
from collections.abc import Iterator
from typing import Any, get_origin, get_type_hints

import pytest
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Route
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from spinneret.runtime.http.access import routes_of
from spinneret.runtime.openapi.common_fields import COMMON, PARAMETERS
from tests.architecture.conftest import ROOT, Templates
from tests.routes import AREAS, ROUTES, app_of

STORED = ROOT / "layers" / "common" / "spinneret" / "runtime" / "openapi" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(STORED.read_text())
    return parsed


def test_the_document_is_as_the_code_has_it() -> None:
    render = runpy.run_path(str(ROOT / "docs" / "render.py"))
    assert render["openapi"]() == STORED.read_text(), "run python docs/render.py"


@pytest.mark.heavy
def test_the_document_is_valid_openapi(document: dict[str, Any]) -> None:
    found = OpenAPIV31SpecValidator(document).iter_errors()
    assert [(list(error.absolute_path), error.message) for error in found] == []


# covers T-03
def test_what_is_documented_is_what_is_admitted(document: dict[str, Any]) -> None:
    documented = {(method.upper(), path) for method, path, _ in _operations(document)}
    assert documented == {(row.method, _documented(row.route)) for row in ROUTES}


def test_a_documented_route_reaches_the_function_that_has_it(templates: Templates) -> None:
    handlers = {
        event["Properties"]["Path"]: function["Handler"]
        for function in templates.functions().values()
        for event in function.get("Events", {}).values()
        if event["Type"] == "Api"
    }
    for row in ROUTES:
        served = [path for path in handlers if _serves(path, row.route)]
        best = max(served, key=lambda path: (not path.endswith("+}"), len(path)))
        module = handlers[best].rpartition(".")[0]
        app = importlib.import_module(module).app
        assert (row.method, row.route) in {(route.method, route.path) for route in routes_of(app)}


def test_every_operation_asks_for_what_its_route_declares(document: dict[str, Any]) -> None:
    rows = {(row.method, _documented(row.route)): row for row in ROUTES}
    for method, path, operation in _operations(document):
        row = rows[method.upper(), path]
        assert operation.get("x-scope") == row.scope, path
        assert operation.get("x-permission") == row.permission, path
        taken = {name for each in operation["security"] for name in each}
        keys = set() if row.scope is None else {"ApiKey", "Bearer"}
        assert taken == (keys | {"Ticket"} if row.ticket else keys), path


# covers P-15
def test_every_refusal_has_the_one_shape(document: dict[str, Any]) -> None:
    error = {"$ref": "#/components/schemas/Error"}
    for _, path, operation in _operations(document):
        for status, given in operation["responses"].items():
            response = _resolved(document, given)
            if int(status) >= 400 and path not in {"/health/ready", "/api/v1/health/ready"}:
                assert response["content"] == {"application/json": {"schema": error}}, path
        statuses = set(operation["responses"])
        assert "500" in statuses
        if operation["security"]:
            assert {"401", "429", "503"} <= statuses, path
        if "{" in path:
            assert "404" in statuses, path


def test_every_answer_has_a_model(document: dict[str, Any]) -> None:
    for _, path, operation in _operations(document):
        for status, response in operation["responses"].items():
            for content in response.get("content", {}).values():
                assert content.get("schema"), f"{path} {status}"


def test_every_operation_with_a_body_shows_a_request_and_its_answer(
    document: dict[str, Any],
) -> None:
    bodies = {route.func.__name__: route.dependant.body_params for route in _routes()}
    for _, path, operation in _operations(document):
        if "requestBody" not in operation:
            continue
        request = operation["requestBody"]["content"]["application/json"]
        success = max(status for status in operation["responses"] if status < "300")
        answer = operation["responses"][success]["content"]["application/json"]
        assert request.get("examples"), f"{path}: add examples=… to its declaration"
        assert list(request["examples"]) == list(answer["examples"])
        [parameter] = bodies[operation["operationId"]]
        for name, example in request["examples"].items():
            reply = answer["examples"][name]["value"]
            assert _problems(document, request["schema"], example["value"]) == [], path
            assert _problems(document, answer["schema"], reply) == [], path
            # Rules that no schema expresses, such as that one of two fields is required.
            assert not parameter.validate(example["value"], loc=("body",))[1], path


def test_no_two_models_share_a_name(document: dict[str, Any]) -> None:
    # For models that share a name, Pydantic would add their modules to it; for a model whose input
    # and output differ, it would append `-Input` and `-Output`.
    odd = [name for name in document["components"]["schemas"] if not name.isidentifier()]
    odd += [name for name in document["components"]["schemas"] if "__" in name]
    assert odd == []


def test_everything_shared_is_used(document: dict[str, Any]) -> None:
    text = json.dumps(document)
    for kind in ("schemas", "responses", "headers", "parameters"):
        for name in document["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, f"{kind} {name}"


def test_every_property_has_a_description(document: dict[str, Any]) -> None:
    """A description is the text below the field in its model, or the common one of its name."""
    schemas = document["components"]["schemas"]
    without = [
        f"{schema}.{name}"
        for schema, model in schemas.items()
        for name, field in model.get("properties", {}).items()
        if not field.get("description", "").endswith((".", ")"))
    ]
    assert without == []


def test_every_parameter_has_a_description_and_every_description_a_parameter(
    document: dict[str, Any],
) -> None:
    named = {
        each["name"]: each.get("description")
        for _, _, operation in _operations(document)
        for each in operation.get("parameters", ())
        if "name" in each
    }
    assert named == dict(PARAMETERS)


def test_every_common_description_is_used(document: dict[str, Any]) -> None:
    used = {
        (name, field["description"])
        for model in document["components"]["schemas"].values()
        for name, field in model.get("properties", {}).items()
    }
    assert [name for name, text in COMMON.items() if (name, text) not in used] == []


def test_a_route_that_chooses_its_status_declares_its_answers() -> None:
    for route in _routes():
        chooses = get_origin(get_type_hints(route.func)["return"]) is Response
        assert route.responses or not chooses, f"{route.path}: add **answers(…) to its decorator"


def _routes() -> Iterator[Route]:
    for area in AREAS:
        yield from routes_of(app_of(area))


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method, path, operation


def _resolved(document: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in given:
        return given
    name = given["$ref"].rpartition("/")[2]
    found: dict[str, Any] = document["components"]["responses"][name]
    return found


def _problems(document: dict[str, Any], schema: dict[str, Any], value: Any) -> list[str]:
    """Return the violations of a schema by a value."""
    whole = Draft202012Validator({**schema, "components": document["components"]})
    return [error.message for error in whole.iter_errors(value)]


def _documented(route: str) -> str:
    return route.replace("<", "{").replace(">", "}")


def _serves(path: str, route: str) -> bool:
    """Return whether API Gateway's path matches the route.

    A variable matches one segment, a greedy one several.
    """
    pattern = re.sub(r"\{\w+\}", "[^/]+", path.replace("{proxy+}", ".+"))
    return re.fullmatch(pattern, route) is not None
