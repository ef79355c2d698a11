"""Each function has the variables that it reads, and no others (Lambda allows 4 KB of them)."""

import importlib
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from spinneret.access.wiring import (
    ALLOWED_ORIGINS,
    TOKEN_AUDIENCE,
    TOKEN_ISSUER,
    USER_REQUESTS_PER_MINUTE,
    admitting,
)
from spinneret.aws.stage import RETRY_DELAYS, S3_ADDRESSING_STYLE, Builder, Stage
from spinneret.content.search.model_wiring import embedder_handler
from spinneret.kernel.settings import Variable
from spinneret.runtime.logs import LOG_LEVEL
from spinneret.runtime.metrics import NAMESPACE
from tests.architecture.conftest import Templates

OF_LAMBDA = {"AWS_LAMBDA_RUNTIME_API"}
OF_THE_STAGE = {
    *("INDEX_SHARDS", "INDEX_REPLICAS", "TEI__BATCH_SIZE", "TEI__TIMEOUT_S"),
    *(f"CACHE__{each}_TTL_S" for each in ("EMBED", "QUERY", "QUERY_EMBED")),
}
# Minimal event with which a function without routes begins to build its services.
EVENT = {
    "requestContext": {"routeKey": "$connect", "connectionId": "one"},
    "Records": [{"messageId": "one", "body": "{}", "eventSource": "aws:sqs"}],
}
CONTEXT = SimpleNamespace(get_remaining_time_in_millis=lambda: 1000)


class _Found(BaseException):
    """Raised with the builder of a function without routes; no entry point catches it."""


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "eu-west-1")


def test_a_function_has_the_variables_that_it_reads_and_no_others(templates: Templates) -> None:
    """A variable that a stage may set reaches all its readers, although it has a default."""
    of_the_stage = set()
    for name, function in templates.functions().items():
        declared = {
            each.name: each for build in _builders(function["Handler"]) for each in build.reads
        }
        given = function["Environment"]["Variables"].keys() - templates.shared_variables.keys()
        needed = {each for each, variable in declared.items() if variable.default is None}
        needed |= set(declared) & OF_THE_STAGE
        assert given - declared.keys() == set(), f"{name} doesn't read these"
        assert needed - given - OF_LAMBDA == set(), f"{name} lacks these"
        values = function["Environment"]["Variables"]
        of_the_stage |= {each for each in given if "Ref" in values[each]}
    assert of_the_stage >= OF_THE_STAGE


@pytest.mark.heavy
def test_a_function_reads_all_variables_that_it_declares(
    templates: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test also fails for a builder that reads a variable without declaring it."""
    asked: set[str] = set()
    value = Stage.__getitem__

    def getitem(stage: Stage, variable: Variable[Any]) -> Any:
        asked.add(variable.name)
        return value(stage, variable)

    monkeypatch.setattr(Stage, "__getitem__", getitem)
    for build in dict.fromkeys(
        build
        for function in templates.functions().values()
        for build in _builders(function["Handler"])
    ):
        asked.clear()
        needs_layer = build is embedder_handler  # only its function has the layer
        with pytest.raises(ModuleNotFoundError) if needs_layer else nullcontext():
            getattr(build.of(_environment(build)), "previews", None)  # built on first use
        assert {each.name for each in build.reads} == asked, f"{build} doesn't read the others"


def test_every_function_has_the_stage_s_log_level_and_retry_delays(templates: Templates) -> None:
    of_tokens = {TOKEN_ISSUER.name, TOKEN_AUDIENCE.name, USER_REQUESTS_PER_MINUTE.name}
    shared = {LOG_LEVEL.name, RETRY_DELAYS.name, S3_ADDRESSING_STYLE.name, NAMESPACE.name}
    shared |= {ALLOWED_ORIGINS.name, *of_tokens}
    assert templates.shared_variables.keys() == shared
    for function in templates.functions().values():
        given = function["Environment"]["Variables"]
        assert given.items() >= templates.shared_variables.items()


def _environment(build: Builder[Any]) -> Mapping[str, str]:
    """Return required variables and enabled switches, with values that all adapters accept."""
    texts = {int: "1", str: "http://localhost"}
    given = {each.name: texts[each.parse] for each in build.reads if each.default is None}
    return given | {each.name: "true" for each in build.reads if each.default is False}


def _builders(handler: str) -> Iterator[Builder[Any]]:
    """Yield the builders of a function: those of its routes, or its only one."""
    module_name, _, name = handler.rpartition(".")
    module = importlib.import_module(module_name)
    if api := getattr(module, "api", None):
        yield from {admitting: None, **{routes.build: None for routes in api.routes}}
        return

    def of(build: Builder[Any], _: Mapping[str, str]) -> Any:
        raise _Found(build)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Builder, "of", of)
        with pytest.raises(_Found) as found:
            getattr(module, name)(EVENT, CONTEXT)
    yield found.value.args[0]
