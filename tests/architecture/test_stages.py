"""Each stage's templates with evaluated conditions: CloudFormation could create all of them."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from graphlib import TopologicalSorter
from typing import Any, Final

import pytest

from tests.architecture.conftest import ROOT, Templates
from tests.architecture.evaluation import evaluated, targets

SECRET: Final = "arn:aws:secretsmanager:eu-west-1:000000000000:secret:server"
URLS: Final = {"OpenSearchUrl": "http://127.0.0.1:1", "WebSocketUrl": "http://127.0.0.1:2"}
LONGEST: Final = "a" * 16
"""Longest name of a stage (AllowedPattern)."""
STAGES: Final[Mapping[str, Mapping[str, str]]] = {
    "local": {"Stage": "local", **URLS, "EmbedderUrl": "http://127.0.0.1:3"},
    "local, embeds by a function": {"Stage": "local", **URLS},
    "staging": {"Stage": "staging"},
    "production": {"Stage": "production", "SearchDedicatedMasters": "true"},
    "with servers": {
        "Stage": LONGEST,
        "EmbedderUrl": "https://embedder.example",
        "EmbedderSecretArn": SECRET,
        "RerankerUrl": "https://reranker.example",
        "RerankerSecretArn": SECRET,
        "SearchZones": "2",
        "SearchInstanceCount": "4",
        "SearchVolumeGib": "500",
    },
}
NAMES: Final = {
    "AWS::Serverless::Function": ("FunctionName", 64),
    "AWS::SQS::Queue": ("QueueName", 80),
    "AWS::Events::EventBus": ("Name", 256),
    "AWS::Logs::LogGroup": ("LogGroupName", 512),
    "AWS::KMS::Alias": ("AliasName", 256),
    "AWS::ApiGatewayV2::Api": ("Name", 128),
    "AWS::Serverless::Api": ("Name", 1024),
    "AWS::CloudWatch::Alarm": ("AlarmName", 255),
    "AWS::CloudWatch::CompositeAlarm": ("AlarmName", 255),
    "AWS::CloudWatch::Dashboard": ("DashboardName", 255),
    "AWS::SecretsManager::Secret": ("Name", 512),
}
"""Property that holds a resource's name, and the maximum length that AWS accepts."""
Evaluated = dict[str, dict[str, Any]]


@pytest.fixture(params=STAGES.values(), ids=STAGES)
def stage(
    request: pytest.FixtureRequest, translated: dict[str, Any], templates: Templates
) -> Evaluated:
    """Provide a stage's templates by file name; nested ones have the root's parameter values."""
    chosen = {**_defaults(translated), **request.param}
    found = {"template.yaml": evaluated(translated, chosen)}
    for resource in found["template.yaml"]["Resources"].values():
        if resource["Type"] == "AWS::CloudFormation::Stack":
            properties = resource["Properties"]
            name = properties["TemplateURL"].removeprefix("infra/")
            given = {
                parameter: str(chosen.get(value["Ref"], "ref")) if "Ref" in value else "got"
                for parameter, value in properties["Parameters"].items()
                if isinstance(value, dict)
            } | {k: v for k, v in properties["Parameters"].items() if isinstance(v, str)}
            declared = templates.nested[name].get("Parameters", {})
            assert given.keys() <= declared.keys(), name
            values = {**_defaults(templates.nested[name]), **given}
            assert values.keys() == declared.keys(), f"{name} lacks a parameter"
            found[name] = evaluated(templates.nested[name], values)
    return found


def test_every_reference_leads_to_something_that_the_stage_has(
    stage: Evaluated, translated: dict[str, Any], templates: Templates
) -> None:
    for name, template in stage.items():
        declared = {"template.yaml": translated, **templates.nested}[name].get("Parameters", {})
        known = declared.keys() | template["Resources"].keys()
        missing = {each for each in targets(template) if not each.startswith("AWS::")} - known
        assert missing == set(), name


def test_no_template_s_resources_wait_for_each_other(stage: Evaluated) -> None:
    for template in stage.values():
        resources = template["Resources"]
        graph = {name: {*targets(each)} & resources.keys() for name, each in resources.items()}
        assert len([*TopologicalSorter(graph).static_order()]) == len(resources)


def test_a_root_output_is_there_when_its_stack_is(stage: Evaluated) -> None:
    outputs = {name: template["Outputs"] for name, template in stage.items()}
    stacks = {
        name: each["Properties"]["TemplateURL"].removeprefix("infra/")
        for name, each in stage["template.yaml"]["Resources"].items()
        if each["Type"] == "AWS::CloudFormation::Stack"
    }
    used = {
        (stacks[name], attribute.removeprefix("Outputs."))
        for name, attribute in _attributes(stage["template.yaml"])
        if name in stacks
    }
    assert used
    assert {(file, output) for file, output in used if output not in outputs[file]} == set()


def test_access_logs_come_after_the_account_s_role_for_them(stage: Evaluated) -> None:
    api = stage["template.yaml"]["Resources"]["ApiStage"]["Properties"]
    if "logs.yaml" not in stage:
        assert "AccessLogSetting" not in api
        return
    assert {*targets(api["AccessLogSetting"])} == {"Logs"}
    account = stage["logs.yaml"]["Resources"]["Gateway"]
    assert account["Type"] == "AWS::ApiGateway::Account"
    assert {*targets(account)} == {"GatewayRole"}


def test_a_name_is_short_enough_for_the_longest_stage(templates: Templates) -> None:
    for kind, (name_property, longest) in NAMES.items():
        for name, resource in templates.resources(kind).items():
            given = resource.get("Properties", {}).get(name_property)
            if given is None:
                continue  # CloudFormation generates a name that fits
            text = given["Fn::Sub"] if isinstance(given, dict) else given
            filled = re.sub(r"\$\{\w+\}", LONGEST, text)
            assert len(filled) <= longest, (name, filled)
    logical = [name for each in templates.nested.values() for name in each["Resources"]]
    assert max(map(len, [*logical, *templates.root["Resources"]])) <= 255


@pytest.mark.parametrize(
    ("given", "nodes", "zones", "gib", "masters"),
    [
        ({"Stage": "staging"}, 1, 1, 20, 0),
        ({"Stage": "production"}, 3, 3, 100, 0),  # survives the loss of a zone
        ({"Stage": "production", "Zones": "1"}, 3, 1, 100, 0),
        ({"Stage": "dev", "Zones": "2", "DedicatedMasters": "true"}, 1, 2, 20, 3),
        ({"Stage": "production", "VolumeGib": "500"}, 3, 3, {"Ref": "VolumeGib"}, 0),
    ],
)
def test_opensearch_s_size_follows_the_stage_and_its_parameters(
    given: dict[str, str], nodes: int, zones: int, gib: object, masters: int, templates: Templates
) -> None:
    template = templates.nested["search-domain.yaml"]
    domain = evaluated(template, {**dict.fromkeys(template["Parameters"], ""), **given})
    properties = domain["Resources"]["Domain"]["Properties"]
    cluster = properties["ClusterConfig"]
    assert cluster["InstanceCount"] == nodes
    assert cluster.get("ZoneAwarenessConfig", {}).get("AvailabilityZoneCount", 1) == zones
    assert cluster["ZoneAwarenessEnabled"] == (zones > 1)
    watched = domain["Outputs"]["VolumeGib"]["Value"]  # an alarm needs the size for the free share
    assert str(properties["EBSOptions"]["VolumeSize"]) == str(watched) == str(gib)
    assert cluster.get("DedicatedMasterCount", 0) == masters
    assert cluster["DedicatedMasterEnabled"] == (masters > 0)


WITHOUT_RESOURCE: Final = {
    # IAM defines no resource for these actions (Service Authorization Reference). A task's token is
    # the permission; a condition names the tag of a key that doesn't exist yet.
    *("states:SendTaskHeartbeat", "states:SendTaskSuccess", "kms:CreateKey", "kms:TagResource"),
}
ACTIONS_BY_PATTERN: Final = {"kms:*", "es:ESHttp*"}
"""Allowed in resource policies for principals of the account, whose roles limit their actions."""


def test_a_policy_names_its_actions_and_resources(stage: Evaluated) -> None:
    statements = [*_statements(stage)]
    assert len(statements) > 50 or len(stage) < 3
    for each in statements:
        if each["Effect"] == "Deny":
            continue
        actions = [each["Action"]] if isinstance(each["Action"], str) else each["Action"]
        patterns = {action for action in actions if "*" in action}
        assert patterns <= (ACTIONS_BY_PATTERN if "Principal" in each else set()), each
        resources = each.get("Resource", [])
        resources = resources if isinstance(resources, list) else [resources]
        if "*" in resources and "Principal" not in each:
            assert set(actions) <= WITHOUT_RESOURCE, each
        assert each.get("Principal") not in ("*", {"AWS": "*"}), each


def test_no_stage_makes_anything_public(stage: Evaluated) -> None:
    for template in stage.values():
        for name, each in template["Resources"].items():
            properties = each.get("Properties", {})
            assert each["Type"] != "AWS::Lambda::Url", name
            assert "AccessControl" not in properties, name
            if each["Type"] == "AWS::KMS::Key" and "KeySpec" not in properties:
                assert properties["EnableKeyRotation"] is True, name


@pytest.mark.heavy
def test_cfn_lint_accepts_the_nested_templates() -> None:
    """`sam validate --lint`, which each deployment runs, reads only the root template."""
    found = subprocess.run(
        [ROOT / ".venv" / "bin" / "cfn-lint", *sorted((ROOT / "infra").glob("*.yaml"))],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (found.returncode, found.stdout) == (0, ""), found.stderr


def _defaults(template: Mapping[str, Any]) -> dict[str, str]:
    declared = template.get("Parameters", {})
    return {name: str(each["Default"]) for name, each in declared.items() if "Default" in each}


def _attributes(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for each in value:
            yield from _attributes(each)
    elif isinstance(value, dict):
        if "Fn::GetAtt" in value:
            name, *path = value["Fn::GetAtt"]
            yield name, ".".join(path)
        for each in value.values():
            yield from _attributes(each)


def _statements(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for each in value:
            yield from _statements(each)
    elif isinstance(value, dict):
        if "Effect" in value and "Action" in value:
            yield value
        for each in value.values():
            yield from _statements(each)
