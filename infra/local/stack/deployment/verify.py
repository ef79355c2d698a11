"""Verify a deployment, because the emulator may report incomplete resources as complete.

Each resource type of the templates has a check that compares the service's response with the
template. A type without a check is an error, so that none is forgotten. Known gaps of the emulator
are listed in docs/local-stack.md and not compared: point-in-time recovery of tables, life cycle
rules of buckets, retention of log groups.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from botocore.exceptions import ClientError

from stack import aws
from stack.deployment import cloudformation, templates
from stack.deployment.record import STACK_NAME, Deployment
from stack.errors import StackError

Properties = Mapping[str, Any]
_ROOT: Final = Path(__file__).resolve().parents[4]


@dataclass(frozen=True)
class Reader:
    """Clients, and parameters that properties may refer to."""

    gateway: str
    parameters: Mapping[str, str]

    def client(self, service: str) -> Any:
        """Return a client of the instance."""
        return aws.client(service, self.gateway)

    def value(self, given: Any) -> Any:
        """Return a property's value if it is literal or a parameter, else None."""
        if isinstance(given, dict):
            return self.parameters.get(given["Ref"]) if set(given) == {"Ref"} else None
        return given


Check = Callable[[Reader, str, Properties], dict[str, tuple[Any, Any]]]
"""Returns the compared values: name → (value in the template, value of the service)."""


def verify(gateway: str, template: Path, deployment: Deployment) -> None:
    """Raise StackError with all differences if the deployment differs from the templates."""
    differences: list[str] = []
    _verify_stack(gateway, template, STACK_NAME, deployment.resources, differences)
    if differences:
        raise StackError("\n".join(["the deployment differs from the templates:", *differences]))


def _verify_stack(
    gateway: str,
    template: Path,
    name: str,
    physical: Mapping[str, str],
    differences: list[str],
) -> None:
    client = aws.client("cloudformation", gateway)
    [stack] = client.describe_stacks(StackName=name)["Stacks"]
    parameters = {p["ParameterKey"]: p["ParameterValue"] for p in stack.get("Parameters", [])}
    reader = Reader(gateway, parameters)
    content = templates.load(template)
    defaults = content.get("Globals", {}).get("Function", {})
    for logical, resource in content["Resources"].items():
        kind, properties = resource["Type"], resource.get("Properties", {})
        if resource.get("Condition") == "OnAws":
            continue
        identity = _physical(logical, physical)
        if identity is None:
            differences.append(f"  {logical}: missing")
        elif kind == "AWS::CloudFormation::Stack":
            nested = template.parent / properties["TemplateURL"]
            inner = cloudformation.resources(client, identity)
            _verify_stack(gateway, nested, identity, inner, differences)
        elif kind not in CHECKS:
            differences.append(f"  {logical}: nothing checks {kind}")
        else:
            if kind == "AWS::Serverless::Function":
                properties = _with_globals(defaults, properties)
            differences += _differences(reader, logical, CHECKS[kind], identity, properties)


def _differences(
    reader: Reader, logical: str, check: Check, identity: str, properties: Properties
) -> list[str]:
    try:
        compared = check(reader, identity, properties)
    except ClientError as error:
        return [f"  {logical}: {error}"]
    return [
        f"  {logical} {what}: {found!r} instead of {wanted!r}"
        for what, (wanted, found) in compared.items()
        if wanted != found
    ]


def _with_globals(defaults: Properties, properties: Properties) -> Properties:
    """Merge Globals like SAM: lists are concatenated, other values are replaced."""
    layers = [*defaults.get("Layers", []), *properties.get("Layers", [])]
    return {**defaults, **properties, "Layers": layers}


def _physical(logical: str, physical: Mapping[str, str]) -> str | None:
    if logical in physical:
        return physical[logical]
    # SAM adds a hash to the ids of layers.
    return next((arn for name, arn in physical.items() if name.startswith(logical)), None)


def _function(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("lambda")
    found = client.get_function_configuration(FunctionName=name)
    variables = found.get("Environment", {}).get("Variables", {})
    wanted = properties["Environment"]["Variables"]
    compared = {
        "handler": (properties["Handler"], found["Handler"]),
        "timeout": (int(reader.value(properties["Timeout"])), found["Timeout"]),
        "memory": (properties["MemorySize"], found["MemorySize"]),
        "layers": (len(properties["Layers"]), len(found.get("Layers", []))),
        "state": ("Active", found["State"]),
        "variables": (sorted(wanted), sorted(set(variables) & set(wanted))),
    }
    for event in properties.get("Events", {}).values():
        compared |= _EVENTS[event["Type"]](reader, name, event["Properties"])
    return compared


def _lane(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("lambda")
    wanted = int(reader.value(properties["ScalingConfig"]["MaximumConcurrency"]))
    mappings = client.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
    # A function with several lanes has one mapping per lane.
    found = min(
        mappings,
        key=lambda each: each.get("ScalingConfig", {}).get("MaximumConcurrency") != wanted,
    )
    queue = properties["Queue"]["Fn::GetAtt"][-1]
    responses = found.get("FunctionResponseTypes")
    concurrency = found.get("ScalingConfig", {}).get("MaximumConcurrency")
    return {
        f"mapping state of {queue}": ("Enabled", found["State"]),
        f"batch size of {queue}": (properties["BatchSize"], found["BatchSize"]),
        f"batch responses of {queue}": (properties["FunctionResponseTypes"], responses),
        f"concurrency of {queue}": (wanted, concurrency),
    }


def _schedule(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    events = reader.client("events")
    function = reader.client("lambda").get_function_configuration(FunctionName=name)
    names = events.list_rule_names_by_target(TargetArn=function["FunctionArn"])["RuleNames"]
    rules = [events.describe_rule(Name=each) for each in names]
    found = [(rule["ScheduleExpression"], rule["State"]) for rule in rules]
    return {"schedule": ([(properties["Schedule"], "ENABLED")], found)}


def _rule(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    events = reader.client("events")
    function = reader.client("lambda").get_function_configuration(FunctionName=name)
    names = events.list_rule_names_by_target(TargetArn=function["FunctionArn"])["RuleNames"]
    rules = [events.describe_rule(Name=each) for each in names]
    wanted = properties["Pattern"]
    found = [(sorted(json.loads(each["EventPattern"])), each["State"]) for each in rules]
    keys = [json.loads(each["EventPattern"])["detail"]["object"] for each in rules]
    return {
        "rule": ([(sorted(wanted), "ENABLED")], found),
        "keys": ([wanted["detail"]["object"]], keys),
    }


def _route(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    del reader, name, properties  # all routes are compared at the API
    return {}


_EVENTS: Final[Mapping[str, Check]] = {
    "SQS": _lane,
    "Schedule": _schedule,
    "EventBridgeRule": _rule,
    "Api": _route,
}


def _api(reader: Reader, identity: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("apigateway")
    stages = [each["stageName"] for each in client.get_stages(restApiId=identity)["item"]]
    return {"stages": ([reader.value(properties["StageName"])], stages)}


def _queue(reader: Reader, url: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    found = reader.client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
    attributes = found["Attributes"]
    compared = {
        name: (str(reader.value(properties[name])), attributes[name])
        for name in ("VisibilityTimeout", "MessageRetentionPeriod")
        if name in properties
    }
    if "RedrivePolicy" in properties:
        policy = json.loads(attributes.get("RedrivePolicy", "{}"))
        wanted = properties["RedrivePolicy"]["maxReceiveCount"]
        compared["redrive"] = (wanted, int(policy.get("maxReceiveCount", 0)))
    return compared


def _table(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("dynamodb")
    found = client.describe_table(TableName=name)["Table"]
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    wanted = properties["TimeToLiveSpecification"]["AttributeName"]
    return {
        "keys": (properties["KeySchema"], found["KeySchema"]),
        "indexes": (
            _indexes(properties),
            _indexes(found),
        ),
        "ttl": (wanted, ttl.get("AttributeName")),
    }


def _indexes(table: Mapping[str, Any]) -> dict[str, Any]:
    kinds = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
    return {each["IndexName"]: each["KeySchema"] for kind in kinds for each in table.get(kind, [])}


def _bucket(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("s3")
    block = client.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]
    versioning = client.get_bucket_versioning(Bucket=name).get("Status")
    notifies = client.get_bucket_notification_configuration(Bucket=name)
    wanted = properties.get("NotificationConfiguration", {}).get("EventBridgeConfiguration")
    return {
        "events": (wanted is not None, "EventBridgeConfiguration" in notifies),
        "public access": (properties["PublicAccessBlockConfiguration"], block),
        "versioning": (properties.get("VersioningConfiguration", {}).get("Status"), versioning),
    }


def _key(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    client = reader.client("kms")
    found = client.describe_key(KeyId=name)["KeyMetadata"]
    state = {"state": ("Enabled", found["KeyState"])}
    if "KeySpec" in properties:  # only symmetric encryption keys, the default, can rotate
        return {**state, "form": (properties["KeySpec"], found["KeySpec"])}
    rotates = client.get_key_rotation_status(KeyId=name)["KeyRotationEnabled"]
    return {**state, "rotation": (properties["EnableKeyRotation"], rotates)}


def _alias(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    del properties
    found = reader.client("kms").describe_key(KeyId=name)["KeyMetadata"]
    return {"state": ("Enabled", found["KeyState"])}


def _secret(reader: Reader, arn: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    found = reader.client("secretsmanager").describe_secret(SecretId=arn)
    return {"description": (properties["Description"], found.get("Description"))}


def _layer(reader: Reader, arn: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    found = reader.client("lambda").get_layer_version_by_arn(Arn=arn)
    return {"runtimes": (properties["CompatibleRuntimes"], found.get("CompatibleRuntimes"))}


def _machine(reader: Reader, arn: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    found = reader.client("stepfunctions").describe_state_machine(stateMachineArn=arn)
    states = json.loads(found["definition"])["States"]
    source = Path(properties["DefinitionUri"]).with_suffix(".yaml").name
    wanted = yaml.safe_load((_ROOT / "statemachines" / source).read_text())["States"]
    return {"states": (sorted(wanted), sorted(states)), "status": ("ACTIVE", found["status"])}


def _bus(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    del properties
    return {"name": (name, reader.client("events").describe_event_bus(Name=name)["Name"])}


def _policy(reader: Reader, name: str, properties: Properties) -> dict[str, tuple[Any, Any]]:
    del reader, name, properties  # the emulator enforces no policy
    return {}


CHECKS: Final[Mapping[str, Check]] = {
    "AWS::Serverless::Function": _function,
    "AWS::Serverless::LayerVersion": _layer,
    "AWS::Serverless::Api": _api,
    "AWS::Serverless::StateMachine": _machine,
    "AWS::Lambda::Permission": _policy,
    "AWS::IAM::ManagedPolicy": _policy,
    "AWS::Events::EventBus": _bus,
    "AWS::SQS::Queue": _queue,
    "AWS::SQS::QueuePolicy": _policy,
    "AWS::DynamoDB::Table": _table,
    "AWS::S3::Bucket": _bucket,
    "AWS::KMS::Key": _key,
    "AWS::KMS::Alias": _alias,
    "AWS::SecretsManager::Secret": _secret,
    "AWS::S3::BucketPolicy": _policy,
}
