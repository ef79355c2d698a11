"""A function has the variables that it reads, and no others (Lambda allows 4 KB of them)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from types import SimpleNamespace
from typing import Any

import pytest

from spinneret.kernel.settings import Settings
from tests.architecture.conftest import Templates

OF_LAMBDA = {"AWS_LAMBDA_RUNTIME_API"}
# Enough of an event for every sort of function to begin to build its services.
EVENT = {
    "httpMethod": "GET",
    "path": "/",
    "requestContext": {"routeKey": "$connect", "connectionId": "one"},
    "Records": [{"messageId": "one", "body": "{}", "eventSource": "aws:sqs"}],
}
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 1000)


class _Asked(BaseException):
    """Services were about to be built; no entry point catches it."""


def _read_by(handler: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Field[Any]]:
    """The fields of the settings that a function builds its services from."""
    asked: dict[str, Field[Any]] = {}

    def from_env(cls: type[Settings], _: Mapping[str, str]) -> Settings:
        asked.update({field.name.upper(): field for field in fields(cls)})
        raise _Asked

    monkeypatch.setattr(Settings, "from_env", classmethod(from_env))
    module, _, name = handler.rpartition(".")
    with pytest.raises(_Asked):
        getattr(importlib.import_module(module), name)(EVENT, CONTEXT)
    return asked


def test_a_function_has_the_variables_that_it_reads_and_no_others(
    templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, function in templates.functions().items():
        given = set(function.get("Environment", {}).get("Variables", {}))
        asked = _read_by(function["Handler"], monkeypatch)
        needed = {each for each, field in asked.items() if field.default is MISSING}
        assert given - set(asked) == set(), f"{name} doesn't read these"
        assert needed - given - OF_LAMBDA == set(), f"{name} lacks these"
