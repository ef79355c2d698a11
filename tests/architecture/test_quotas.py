"""Quotas of AWS that the templates approach; a deployment that exceeds one fails.

Values that only a deployment determines, such as ARNs, count with the maximum length of AWS's
names.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.architecture.conftest import Templates

RESOURCES: Final = 450
"""Maximum per template; CloudFormation allows 500 (AWS CloudFormation quotas)."""
OUTPUTS: Final = 200
PARAMETERS: Final = 200
TEMPLATE_BYTES: Final = 1_000_000
"""Maximum size of a template in S3."""
ENVIRONMENT_BYTES: Final = 4_096
"""Maximum size of the names and values of a function's variables (Lambda quotas)."""
FUNCTION_POLICY_BYTES: Final = 20_480
"""Maximum size of a function's resource-based policy (Lambda quotas)."""
PERMISSION_BYTES: Final = 512
"""Size of one statement of that policy, with its id, condition and source ARN."""
INLINE_POLICY_BYTES: Final = 10_240
"""Maximum size of a role's inline policies without white space (IAM and AWS STS quotas)."""
MANAGED_POLICY_BYTES: Final = 6_144
API_RESOURCES: Final = 300
"""Maximum path segments of a REST API (API Gateway quotas)."""
RESOLVED_CHARS: Final = 110
"""Length of an intrinsic function's value.

An ARN with account, region and a name of 48 characters has this length.
"""

NAME_CHARS: Final = 63
"""Length of a name inside a text: that of a bucket, the longest name."""


@pytest.mark.heavy
def test_every_template_has_room_for_more(templates: Templates, translated: dict[str, Any]) -> None:
    for name, template in {"template.yaml": translated, **templates.nested}.items():
        assert len(template["Resources"]) <= RESOURCES, name
        assert len(template.get("Outputs", {})) <= OUTPUTS, name
        assert len(template.get("Parameters", {})) <= PARAMETERS, name
        assert len(json.dumps(template)) <= TEMPLATE_BYTES, name


def test_every_function_s_variables_fit(translated: dict[str, Any]) -> None:
    sizes = {
        name: sum(
            len(variable) + _resolved(value, translated["Parameters"])
            for variable, value in each["Environment"]["Variables"].items()
        )
        for name, each in _properties(translated, "AWS::Lambda::Function").items()
        if "Environment" in each
    }
    assert sizes
    assert {name: size for name, size in sizes.items() if size > ENVIRONMENT_BYTES} == {}


def test_every_function_s_callers_fit_into_its_policy(translated: dict[str, Any]) -> None:
    callers = Counter(
        json.dumps(each["FunctionName"])
        for each in _properties(translated, "AWS::Lambda::Permission").values()
    )
    assert callers
    assert max(callers.values()) * PERMISSION_BYTES <= FUNCTION_POLICY_BYTES, callers


def test_every_role_s_own_policies_fit(translated: dict[str, Any]) -> None:
    sizes = {
        name: sum(_policies(each.get("Policies", [])))
        for name, each in _properties(translated, "AWS::IAM::Role").items()
    }
    assert max(sizes.values()) > 0
    assert {name: size for name, size in sizes.items() if size > INLINE_POLICY_BYTES} == {}


def test_every_managed_policy_fits(templates: Templates) -> None:
    policies = templates.resources("AWS::IAM::ManagedPolicy")
    sizes = {name: _size(each["Properties"]["PolicyDocument"]) for name, each in policies.items()}
    assert sizes
    assert {name: size for name, size in sizes.items() if size > MANAGED_POLICY_BYTES} == {}


def test_the_api_has_room_for_more_paths(translated: dict[str, Any]) -> None:
    [api] = _properties(translated, "AWS::ApiGateway::RestApi").values()
    segments = {
        tuple(path.strip("/").split("/")[:length])
        for path in api["Body"]["paths"]
        for length in range(1, path.count("/") + 1)
    }
    assert 50 < len(segments) <= API_RESOURCES


def _properties(template: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    resources = template["Resources"]
    return {name: each["Properties"] for name, each in resources.items() if each["Type"] == kind}


def _resolved(value: Any, parameters: dict[str, dict[str, Any]]) -> int:
    """Return the length of a variable's value; parameters of the template have their defaults.

    The longer branch of an `Fn::If` counts. In a text with several parts, each part counts as a
    name.
    """
    match value:
        case {"Fn::If": [_, *branches]}:
            return max(_resolved(each, parameters) for each in branches)
        case {"Ref": str(name)} if name in parameters:
            return len(str(parameters[name].get("Default", "")))
        case {"Fn::Sub": str(text)}:
            return _substituted(text)
        case {"Fn::Join": [str(separator), list(parts)]}:
            return sum(_resolved(each, parameters) + len(separator) for each in parts)
        case dict():
            return RESOLVED_CHARS
    return len(str(value))


def _substituted(text: str) -> int:
    """Return the length of an `Fn::Sub` with a name for each reference; at least that of an ARN."""
    plain, names = re.subn(r"\$\{[^}]+\}", "", text)
    return max(RESOLVED_CHARS, len(plain) + names * NAME_CHARS)


def _policies(policies: list[Any]) -> Iterator[int]:
    """Yield the sizes of inline policies; conditions count as true."""
    for policy in policies:
        yield _size((policy["Fn::If"][1] if "Fn::If" in policy else policy)["PolicyDocument"])


def _size(document: Any) -> int:
    """Return the length of a policy in which each intrinsic function is an ARN.

    The longer branch of an `Fn::If` counts.
    """
    if isinstance(document, dict):
        if "Fn::If" in document:
            return max(_size(each) for each in document["Fn::If"][1:])
        if len(document) == 1 and next(iter(document)).startswith(("Fn::", "Ref")):
            return RESOLVED_CHARS
        return sum(len(key) + 4 + _size(value) for key, value in document.items()) + 1
    if isinstance(document, list):
        return sum(_size(each) + 1 for each in document) + 1
    return len(str(document)) + 2
