"""A function has the variables that it reads, and no others (Lambda allows 4 KB of them)."""

from __future__ import annotations

import importlib
import os
from dataclasses import MISSING, Field, fields
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from spinneret.access.wiring import admitting
from spinneret.kernel.settings import Settings
from tests.architecture.conftest import Templates

OF_LAMBDA = {"AWS_LAMBDA_RUNTIME_API"}
VALUES: dict[Any, Any] = {str: "http://localhost", int: 1, float: 1.0, bool: True}
OF_THE_STAGE = {
    *("INDEX_SHARDS", "INDEX_REPLICAS", "TEI__BATCH_SIZE", "TEI__TIMEOUT_S"),
    *(f"CACHE__{each}_TTL_S" for each in ("EMBED", "QUERY", "QUERY_EMBED")),
}
# Enough of an event for a function without routes to begin to build its services.
EVENT = {
    "requestContext": {"routeKey": "$connect", "connectionId": "one"},
    "Records": [{"messageId": "one", "body": "{}", "eventSource": "aws:sqs"}],
}
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 1000)


class _Read(BaseException):
    """A function without routes has read its settings; no entry point catches it."""


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Field[Any]]:
    """The fields of all settings that are read, by their variables."""
    found: dict[str, Field[Any]] = {}

    def from_env(cls: type[Settings], _: Any) -> Settings:
        found.update({field.name.upper(): field for field in fields(cls)})
        hints = get_type_hints(cls)
        made = {each.name: VALUES.get(hints[each.name], frozenset()) for each in fields(cls)}
        if "aws_lambda_runtime_api" in made:
            made["aws_lambda_runtime_api"] = "127.0.0.1:9001"
        return cls(**made)

    monkeypatch.setattr(Settings, "from_env", classmethod(from_env))
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    return found


def test_a_function_has_the_variables_that_it_reads_and_no_others(
    templates: Templates, asked: dict[str, Field[Any]]
) -> None:
    """What a stage may set, although it has a default, reaches all that read it."""
    of_the_stage = set()
    for name, function in templates.functions().items():
        asked.clear()
        _build(function["Handler"])
        given = function.get("Environment", {}).get("Variables", {})
        needed = {each for each, field in asked.items() if field.default is MISSING}
        needed |= set(asked) & OF_THE_STAGE
        assert given.keys() - asked.keys() == set(), f"{name} doesn't read these"
        assert needed - given.keys() - OF_LAMBDA == set(), f"{name} lacks these"
        of_the_stage |= {each for each, value in given.items() if "Ref" in value}
    assert of_the_stage >= OF_THE_STAGE


def _build(handler: str) -> None:
    """Let a function read its settings: those of each of its routes, or its one set of them."""
    module_name, _, name = handler.rpartition(".")
    module = importlib.import_module(module_name)
    if api := getattr(module, "api", None):
        for build in {admitting, *(routes.build for routes in api.routes)}:
            build(os.environ)
        return
    stop = pytest.MonkeyPatch()
    read = Settings.from_env

    def from_env(cls: type[Settings], env: Any) -> Settings:
        read.__func__(cls, env)  # type: ignore[attr-defined]  # a class method
        raise _Read

    with stop.context() as patch:
        patch.setattr(Settings, "from_env", classmethod(from_env))
        with pytest.raises(_Read):
            getattr(module, name)(EVENT, CONTEXT)
