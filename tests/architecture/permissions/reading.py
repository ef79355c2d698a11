"""The permissions that a template gives its functions on AWS, by resource."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.architecture.conftest import Templates

Template = Mapping[str, Any]
Permissions = dict[str, set[str]]
"""Resource (its logical id and the rest of its ARN) → actions."""

# SAM's policy templates as SAM expands them (Developer Guide, "AWS SAM policy template list"):
# the parameter that names the resource, and the actions.
SAM_TEMPLATES = {
    "SQSSendMessagePolicy": ("QueueName", {"sqs:SendMessage"}),
    "KMSEncryptPolicy": ("KeyId", {"kms:Encrypt"}),
    "KMSDecryptPolicy": ("KeyId", {"kms:Decrypt"}),
}
CONDITIONED = " (on a condition)"


def permissions_of(function: str, templates: Templates) -> Permissions:
    """Return what a function's own policies allow.

    SAM adds permissions for logs and for polling the event sources.
    """
    found: Permissions = {}
    for policy in templates.functions()[function].get("Policies", []):
        for resource, actions in _statements(policy, templates.root, templates):
            found.setdefault(resource, set()).update(actions)
    return found


def _statements(
    policy: Any, template: Template, templates: Templates
) -> Iterator[tuple[str, set[str]]]:
    match policy:
        case {"Fn::If": ["IsLocal", {"Ref": "AWS::NoValue"}, given]}:
            yield from _statements(given, template, templates)
        case {"Fn::If": [_, given, {"Ref": "AWS::NoValue"}]}:  # on stages that enable it
            yield from _statements(given, template, templates)
        case {"Statement": statements}:
            for statement in statements:
                match statement:
                    case {"Fn::If": [_, given, {"Ref": "AWS::NoValue"}]} | {
                        "Fn::If": ["IsLocal", {"Ref": "AWS::NoValue"}, given]
                    }:
                        yield from _allowed(given, template, templates)
                    case _:
                        yield from _allowed(statement, template, templates)
        case {"Fn::GetAtt": [stack, output]}:
            nested = _nested(stack, template, templates)
            name = nested["Outputs"][output.removeprefix("Outputs.")]["Value"]["Ref"]
            document = nested["Resources"][name]["Properties"]["PolicyDocument"]
            yield from _statements(document, nested, templates)
        case dict() if len(policy) == 1:
            [(name, parameters)] = policy.items()
            parameter, actions = SAM_TEMPLATES[name]
            yield _resource(parameters[parameter], template, templates), set(actions)
        case _:
            raise AssertionError(f"a form of policy that no test reads: {policy}")


def _allowed(
    statement: Mapping[str, Any], template: Template, templates: Templates
) -> Iterator[tuple[str, set[str]]]:
    assert statement["Effect"] == "Allow"
    suffix = CONDITIONED if "Condition" in statement else ""
    for resource in _listed(statement["Resource"]):
        where = _resource(resource, template, templates)
        yield where + suffix, set(_listed(statement["Action"]))


def _resource(given: Any, template: Template, templates: Templates) -> str:
    match given:
        case {"Fn::Join": ["", parts]}:
            return "".join(_resource(part, template, templates) for part in parts)
        case {"Fn::GetAtt": [stack, output]} if output.startswith("Outputs."):
            nested = _nested(stack, template, templates)
            value = nested["Outputs"][output.removeprefix("Outputs.")]["Value"]
            return _resource(value, nested, templates)
        case {"Ref": parameter} if _is_passed_on(parameter, template, templates):
            passed = _given(parameter, template, templates)
            return _resource(_on_aws(passed), templates.root, templates)
        case {"Fn::GetAtt": [name, "Arn" | "QueueName"]} | {"Ref": name}:
            return str(name)
        case {"Fn::Sub": str(text)}:
            return _spelled_out(text, template, templates)
        case str():
            return given
    raise AssertionError(f"a form of resource that no test reads: {given}")


def _on_aws(passed: Any) -> Any:
    """Return the branch of a condition that names a resource; the other one is `none`."""
    match passed:
        case {"Fn::If": [_, "none", given]} | {"Fn::If": [_, given, "none"]}:
            return given
    return passed


def _spelled_out(text: str, template: Template, templates: Templates) -> str:
    """Return the end of an ARN; service and account don't distinguish resources."""
    behind = text.rpartition("${AWS::AccountId}:")[2]
    if behind.startswith("function:spinneret-"):
        return behind.removeprefix("function:")
    if function := re.fullmatch(r"function:\$\{(\w+)\}", behind):
        return _resource({"Ref": function.group(1)}, template, templates)

    def named(match: re.Match[str]) -> str:
        name = match[1]
        if _is_passed_on(name, template, templates):
            return _resource({"Ref": name}, template, templates)
        return name

    return re.sub(r"\$\{(?!Stage)(\w+)(?:\.Arn)?\}", named, behind)


def _is_passed_on(name: str, template: Template, templates: Templates) -> bool:
    """Return whether the root template passes this value; its own parameters keep their names."""
    return template is not templates.root and name in template.get("Parameters", {})


def _given(parameter: str, template: Template, templates: Templates) -> Any:
    """Return the root template's value for a nested template's parameter."""
    [file] = [name for name, each in templates.nested.items() if each is template]
    [stack] = [
        each["Properties"]
        for each in templates.resources("AWS::CloudFormation::Stack").values()
        if each["Properties"]["TemplateURL"] == f"infra/{file}"
    ]
    return stack["Parameters"][parameter]


def _nested(stack: str, template: Template, templates: Templates) -> Template:
    location = template["Resources"][stack]["Properties"]["TemplateURL"]
    return templates.nested[location.removeprefix("infra/")]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
