"""The parsed templates."""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from stack.deployment.templates import load
from tests.conftest import REGION

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Templates:
    """The root template and the nested ones, by file name."""

    root: dict[str, Any]
    nested: dict[str, dict[str, Any]]

    def resources(self, kind: str) -> dict[str, dict[str, Any]]:
        """Return all resources of a type, by logical id."""
        return {
            name: resource
            for template in (self.root, *self.nested.values())
            for name, resource in template["Resources"].items()
            if resource["Type"] == kind
        }

    def functions(self) -> dict[str, dict[str, Any]]:
        """Return the properties of all functions, merged with Globals."""
        defaults = self.root["Globals"]["Function"]
        found = self.resources("AWS::Serverless::Function")
        merged = {name: {**defaults, **each["Properties"]} for name, each in found.items()}
        for name, each in found.items():
            own = each["Properties"].get("Environment", {}).get("Variables", {})
            merged[name]["Environment"] = {"Variables": {**self.shared_variables, **own}}
        return merged

    @property
    def shared_variables(self) -> dict[str, Any]:
        """Return the environment variables that all functions have."""
        found: dict[str, Any] = self.root["Globals"]["Function"]["Environment"]["Variables"]
        return found

    def default(self, value: Any) -> Any:
        """Return a literal, or the default of the parameter that the value refers to."""
        if isinstance(value, dict):
            return self.root["Parameters"][value["Ref"]]["Default"]
        return value


@pytest.fixture(scope="session")
def templates() -> Templates:
    """Provide the templates, which are read once."""
    return Templates(
        root=load(ROOT / "template.yaml"),
        nested={path.name: load(path) for path in sorted((ROOT / "infra").glob("*.yaml"))},
    )


@pytest.fixture(scope="session")
def translated(templates: Templates) -> dict[str, Any]:
    """Provide the root template as CloudFormation gets it from SAM: on AWS, with tracing on."""
    source = deepcopy(templates.root)
    source["Globals"]["Function"]["CodeUri"] = "s3://bucket/functions"
    for resource in source["Resources"].values():
        for uri in {"ContentUri", "DefinitionUri"} & resource.get("Properties", {}).keys():
            resource["Properties"][uri] = "s3://bucket/object"
    stage = {name: each.get("Default", "") for name, each in source["Parameters"].items()}
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("AWS_DEFAULT_REGION", REGION)
        found: dict[str, Any] = Translator({}, Parser()).translate(
            source, {**stage, "Stage": "prod"}
        )
    return found
