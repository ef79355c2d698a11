"""What AWS makes of the roles: SAM adds policies to those that the template names."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from tests.architecture.conftest import ROOT, Templates
from tests.conftest import REGION

# IAM allows 10 for each role (IAM User Guide, "IAM and AWS STS quotas"); two are left for what an
# account adds, such as a boundary for its audit.
POLICIES_PER_ROLE = 8
TEMPLATE_LINES = 1_800


@pytest.fixture(scope="module")
def roles(templates: Templates) -> dict[str, list[Any]]:
    """The managed policies of all roles after SAM's translation, with tracing on."""
    source = deepcopy(templates.root)
    source["Globals"]["Function"]["Tracing"] = "Active"
    for resource in source["Resources"].values():
        if "ContentUri" in resource.get("Properties", {}):
            resource["Properties"]["ContentUri"] = "s3://bucket/layer"
        if "DefinitionUri" in resource.get("Properties", {}):
            resource["Properties"]["DefinitionUri"] = "s3://bucket/machine"
    source["Globals"]["Function"]["CodeUri"] = "s3://bucket/functions"
    stage = {name: each.get("Default", "") for name, each in source["Parameters"].items()}
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("AWS_DEFAULT_REGION", REGION)
        translated = Translator({}, Parser()).translate(source, {**stage, "Stage": "prod"})
    return {
        name: each["Properties"].get("ManagedPolicyArns", [])
        for name, each in translated["Resources"].items()
        if each["Type"] == "AWS::IAM::Role"
    }


def test_no_role_has_more_policies_than_aws_accepts(
    roles: dict[str, list[Any]], templates: Templates
) -> None:
    assert {f"{name}Role" for name in templates.functions()} <= roles.keys()
    assert any("Xray" in str(policies) or "XRay" in str(policies) for policies in roles.values())
    crowded = {
        name: len(policies) for name, policies in roles.items() if len(policies) > POLICIES_PER_ROLE
    }
    assert crowded == {}


def test_the_template_stays_readable() -> None:
    assert len((ROOT / "template.yaml").read_text().splitlines()) < TEMPLATE_LINES
