"""Rules that all templates must follow, including later additions."""

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from spinneret.jobs import limits
from spinneret.kernel import bounds
from spinneret.runtime.openapi.document import VERSION
from tests.architecture.conftest import ROOT, Templates
from tests.routes import ROUTES

_TRACED = {"Fn::If": ["IsTraced", True, False]}


def test_the_stack_names_the_release(templates: Templates) -> None:
    assert templates.root["Outputs"]["Release"]["Value"] == VERSION


def test_every_handler_exists(templates: Templates) -> None:
    for name, function in templates.functions().items():
        path, _, attribute = function["Handler"].rpartition(".")
        file = ROOT / "functions" / (path.replace(".", "/") + ".py")
        assert file.is_file(), f"{name}: {file}"
        assigned = {
            target.id
            for node in ast.parse(file.read_text()).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert attribute in assigned, f"{name}: {file} has no {attribute}"


# covers P-04
def test_every_queue_has_a_dead_letter_queue_that_keeps_longer(templates: Templates) -> None:
    queues = {
        name: each["Properties"] for name, each in templates.resources("AWS::SQS::Queue").items()
    }
    dead = {name: each for name, each in queues.items() if name.endswith("Dlq")}
    assert dead
    for name, queue in queues.items():
        if name in dead:
            assert queue["MessageRetentionPeriod"] == 14 * 24 * 3600, name
            continue
        target = queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert dead[target]["MessageRetentionPeriod"] > queue["MessageRetentionPeriod"], name


def test_every_queue_function_reports_partial_batches_and_bounds_its_concurrency(
    templates: Templates,
) -> None:
    lanes = _events(templates, "SQS")
    assert lanes
    for name, lane in lanes:
        assert lane["FunctionResponseTypes"] == ["ReportBatchItemFailures"], name
        assert templates.default(lane["ScalingConfig"]["MaximumConcurrency"]) >= 2, name
        assert "FilterCriteria" not in lane, f"{name}: a filter deletes what it filters"


def test_visibility_is_at_least_six_times_the_workers_time_out(templates: Templates) -> None:
    functions, root = templates.functions(), templates.root
    times = root["Parameters"]["CrawlTimeout"]["AllowedValues"]
    mapped = {time: row["Seconds"] for time, row in root["Mappings"]["CrawlVisibility"].items()}
    assert mapped == {time: 6 * int(time) for time in times}
    for name, lane in _events(templates, "SQS"):
        queue = re.sub("Arn$", "", lane["Queue"]["Fn::GetAtt"][1].removeprefix("Outputs."))
        properties = templates.resources("AWS::SQS::Queue")[queue]["Properties"]
        visibility, timeout = properties["VisibilityTimeout"], functions[name]["Timeout"]
        if timeout == {"Ref": "CrawlTimeout"}:
            assert visibility == {"Ref": "CrawlVisibility"}, name
        else:
            assert visibility >= 6 * timeout, name


def test_a_pass_of_the_sweeper_ends_before_its_function_does(templates: Templates) -> None:
    timeout = templates.default(templates.functions()["Sweeper"]["Timeout"])
    assert timeout > limits.SWEEP_SECONDS + bounds.AWS_CALL_SECONDS


def test_every_schedule_says_what_becomes_of_a_failure(templates: Templates) -> None:
    schedules = _events(templates, "Schedule")
    assert schedules
    for name, schedule in schedules:
        assert "DeadLetterConfig" in schedule, name
        assert "RetryPolicy" in schedule, name
        configuration = templates.functions()[name]["EventInvokeConfig"]
        assert "OnFailure" in configuration["DestinationConfig"], name


NOT_RESTORED = {"Caches"}
"""Tables without point-in-time recovery or retention: cache entries expire and are recomputed."""


def test_stored_data_is_encrypted_restorable_and_stays(templates: Templates) -> None:
    for name, table in templates.resources("AWS::DynamoDB::Table").items():
        kept = "Delete" if name in NOT_RESTORED else "Retain"
        assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == kept, name
        properties = table["Properties"]
        assert properties["SSESpecification"]["SSEEnabled"], name
        recovery = properties.get("PointInTimeRecoverySpecification")
        assert recovery == (None if name in NOT_RESTORED else {"PointInTimeRecoveryEnabled": True})
    for name, bucket in templates.resources("AWS::S3::Bucket").items():
        assert bucket["DeletionPolicy"] == bucket["UpdateReplacePolicy"] == "Retain", name
        properties = bucket["Properties"]
        assert properties["BucketEncryption"], name
        assert all(properties["PublicAccessBlockConfiguration"].values()), name
    for name, queue in templates.resources("AWS::SQS::Queue").items():
        assert queue["Properties"]["SqsManagedSseEnabled"], name
    for name, domain in templates.resources("AWS::OpenSearchService::Domain").items():
        assert domain["DeletionPolicy"] == "Retain", name
        assert domain["Properties"]["EncryptionAtRestOptions"]["Enabled"], name
        assert domain["Properties"]["DomainEndpointOptions"]["EnforceHTTPS"], name


def test_buckets_refuse_plain_http(templates: Templates) -> None:
    denied = {
        policy["Properties"]["Bucket"]["Ref"]
        for policy in templates.resources("AWS::S3::BucketPolicy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement["Effect"] == "Deny" and "aws:SecureTransport" in json.dumps(statement)
    }
    assert denied == set(templates.resources("AWS::S3::Bucket"))


def test_every_function_logs_json_into_a_group_of_thirty_days(
    templates: Templates, translated: dict[str, Any]
) -> None:
    logging = {
        name: each["Properties"]["LoggingConfig"]
        for name, each in translated["Resources"].items()
        if each["Type"] == "AWS::Lambda::Function"
    }
    assert logging.keys() == templates.functions().keys()
    group = {"Fn::GetAtt": ["Logs", "Outputs.FunctionsLog"]}
    for name, each in logging.items():
        assert each["LogFormat"] == "JSON", name
        assert each["LogGroup"] == {"Fn::If": ["OnAws", group, {"Ref": "AWS::NoValue"}]}, name
        assert each["ApplicationLogLevel"] == "DEBUG", f"{name}: a higher one drops metrics"
    groups = templates.resources("AWS::Logs::LogGroup")
    assert {each["Properties"]["RetentionInDays"] for each in groups.values()} == {30}


def test_both_apis_log_their_requests_as_json_and_bound_them(templates: Templates) -> None:
    api = templates.root["Resources"]["Api"]["Properties"]
    stage = templates.nested["websocket.yaml"]["Resources"]["ApiStage"]["Properties"]
    _, access, _ = api["AccessLogSetting"]["Fn::If"]
    for settings in (access, stage["AccessLogSettings"]):
        assert "request_id" in json.loads(settings["Format"])
    [method] = api["MethodSettings"]
    assert (method["ResourcePath"], method["HttpMethod"]) == ("/*", "*")
    for bounds_of in (method, stage["DefaultRouteSettings"]):
        assert isinstance(bounds_of["ThrottlingRateLimit"], dict)
        assert isinstance(bounds_of["ThrottlingBurstLimit"], dict)


# covers P-12
def test_functions_executions_and_requests_are_traced_by_one_parameter(
    translated: dict[str, Any],
) -> None:
    kinds = {
        "AWS::Lambda::Function": ("TracingConfig", {"Mode": {"Ref": "Tracing"}}),
        "AWS::StepFunctions::StateMachine": ("TracingConfiguration", {"Enabled": _TRACED}),
        "AWS::ApiGateway::Stage": ("TracingEnabled", _TRACED),
    }
    seen = set()
    for name, each in translated["Resources"].items():
        if each["Type"] in kinds:
            setting, value = kinds[each["Type"]]
            assert each["Properties"][setting] == value, name
            seen.add(each["Type"])
    assert seen == kinds.keys()


def test_lambda_lets_a_job_come_back_as_often_as_it_has_to_wait(
    translated: dict[str, Any],
) -> None:
    """By default, Lambda drops the sixteenth message of a chain that a function itself causes."""
    functions = [
        each["Properties"]
        for each in translated["Resources"].values()
        if each["Type"] == "AWS::Lambda::Function"
    ]
    assert {each["RecursiveLoop"] for each in functions} == {"Allow"}


def test_only_our_own_resources_may_invoke_a_function(translated: dict[str, Any]) -> None:
    permissions = {
        name: each["Properties"]
        for name, each in translated["Resources"].items()
        if each["Type"] == "AWS::Lambda::Permission"
    }
    assert permissions
    assert [name for name, each in permissions.items() if "SourceArn" not in each] == []


def test_every_public_prefix_has_a_route_for_itself_and_for_what_is_below(
    templates: Templates,
) -> None:
    paths = {event["Path"] for _, event in _events(templates, "Api")}
    prefixes = {path for path in paths if not path.endswith("/{proxy+}")}
    for prefix in prefixes - {path for path in paths if path.endswith("/stream")}:
        below = {
            path for path in paths if re.fullmatch(re.escape(prefix) + r"/\{[a-z_]+\+?\}", path)
        }
        assert len(below) == 1, prefix  # API Gateway allows one variable part


def test_every_route_is_reached_through_the_template(templates: Templates) -> None:
    paths = {event["Path"] for _, event in _events(templates, "Api")}
    prefixes = [path for path in paths if not path.endswith("/{proxy+}")]
    for row in ROUTES:
        reached = [path for path in prefixes if f"{row.route}/".startswith(f"{path}/")]
        assert reached, f"{row.method} {row.route}"


def test_reports_of_files_end_no_earlier_than_their_jobs(templates: Templates) -> None:
    inbox = templates.nested["crawl.yaml"]["Resources"]["Inbox"]["Properties"]
    rules = {rule.get("Prefix"): rule for rule in inbox["LifecycleConfiguration"]["Rules"]}
    job = bounds.JOB_PENDING_SECONDS + bounds.JOB_RETENTION_SECONDS
    assert rules["T/"]["ExpirationInDays"] * 24 * 3600 == job


# IAM defines no resource for these actions (Service Authorization Reference, AWS Step Functions):
# the token of a task is the permission to complete it.
BY_TOKEN = {"states:SendTaskHeartbeat", "states:SendTaskSuccess"}
# IAM has no resource for a key before its creation either (… AWS KMS): a condition requires its
# tag.
BY_TAG = {"kms:CreateKey", "kms:TagResource"}


def test_no_function_may_do_everything(templates: Templates) -> None:
    for name, function in templates.functions().items():
        text = json.dumps([_without_tokens(policy) for policy in function.get("Policies", [])])
        assert '"*"' not in text, name
        assert "FullAccess" not in text, name


def _events(templates: Templates, kind: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, event["Properties"])
        for name, function in templates.functions().items()
        for event in function.get("Events", {}).values()
        if event["Type"] == kind
    ]


def _without_tokens(policy: Any) -> Any:
    if "Statement" not in policy:
        return policy
    kept = []
    for each in policy["Statement"]:
        branches = each["Fn::If"][1:] if "Fn::If" in each else [each]
        [statement] = [branch for branch in branches if "Action" in branch]
        actions = statement["Action"]
        if not {actions} <= BY_TOKEN if isinstance(actions, str) else not _is_open(statement):
            kept.append(statement)
    return {"Statement": kept}


def _is_open(statement: Mapping[str, Any]) -> bool:
    """Return whether a statement may name `*` as its resource."""
    actions = set(statement["Action"])
    return actions <= BY_TOKEN or (actions <= BY_TAG and "Condition" in statement)
