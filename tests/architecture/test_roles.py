"""The deployed roles stay within AWS's limits: SAM adds policies to those in the template."""

from typing import Any

import pytest

from tests.architecture.conftest import ROOT, Templates

# IAM allows 10 for each role (IAM User Guide, "IAM and AWS STS quotas"); two are reserved for
# policies that an account adds, such as a boundary for its audit.
POLICIES_PER_ROLE = 8
TEMPLATE_LINES = 1_800


@pytest.fixture(scope="module")
def roles(translated: dict[str, Any]) -> dict[str, list[Any]]:
    """Provide the managed policies of all roles."""
    return {
        name: each["Properties"].get("ManagedPolicyArns", [])
        for name, each in translated["Resources"].items()
        if each["Type"] == "AWS::IAM::Role"
    }


@pytest.mark.heavy
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
