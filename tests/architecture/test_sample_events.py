"""Every trigger has a sample event with which it can be invoked."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from tests.architecture.conftest import Templates

EVENTS = Path(__file__).resolve().parents[2] / "events"


def samples() -> dict[str, Any]:
    found = sorted(EVENTS.glob("*/*.json"))
    return {f"{path.parent.name}/{path.name}": json.loads(path.read_text()) for path in found}


def test_no_trigger_is_of_a_kind_that_has_no_test_here(templates: Templates) -> None:
    kinds = {
        event["Type"]
        for function in templates.functions().values()
        for event in function.get("Events", {}).values()
    }
    assert kinds == {"Api", "SQS", "Schedule", "EventBridgeRule"}


def test_every_api_function_has_a_sample_of_a_request_to_one_of_its_paths(
    templates: Templates,
) -> None:
    paths = {
        name: {
            event["Properties"]["Path"]
            for event in function.get("Events", {}).values()
            if event["Type"] == "Api"
        }
        for name, function in templates.functions().items()
    }
    asked = {sample.get("resource") for sample in samples().values()}
    assert {name for name, mine in paths.items() if mine and not mine & asked} == set()


def test_every_rule_of_the_bus_has_a_sample_of_what_it_lets_through(templates: Templates) -> None:
    known = {(each.get("source"), each.get("detail-type")) for each in samples().values()}
    for name, function in templates.functions().items():
        for event in function.get("Events", {}).values():
            if event["Type"] == "EventBridgeRule":
                pattern = event["Properties"]["Pattern"]
                let = {(one, two) for one in pattern["source"] for two in pattern["detail-type"]}
                assert let & known, name


def test_every_route_of_the_socket_has_a_sample(templates: Templates) -> None:
    routes = templates.resources("AWS::ApiGatewayV2::Route").values()
    keys = {route["Properties"]["RouteKey"] for route in routes}
    contexts = (sample.get("requestContext", {}) for sample in samples().values())
    sampled = {context.get("routeKey") for context in contexts} - {None}
    assert sampled == keys == {"$connect", "$disconnect", "$default"}


def test_every_step_of_a_state_machine_has_a_sample_of_its_state(templates: Templates) -> None:
    functions, found = templates.functions(), samples()
    machines = templates.resources("AWS::Serverless::StateMachine").values()
    steps = {
        given["Fn::GetAtt"][0]
        for machine in machines
        for given in machine["Properties"]["DefinitionSubstitutions"].values()
    }
    assert steps
    for step in steps:
        area = functions[step]["Handler"].split(".")[0]
        sample = found[f"{area}/{re.sub('(?<!^)(?=[A-Z])', '_', step).lower()}.json"]
        assert {"tenant", "job_id"} <= sample.keys(), step


def test_every_handler_of_a_queue_has_a_sample_of_a_message_of_its_own(
    templates: Templates,
) -> None:
    queues = templates.resources("AWS::SQS::Queue")
    handlers: dict[str, set[str]] = {}
    for function in templates.functions().values():
        for event in function.get("Events", {}).values():
            if event["Type"] == "SQS":
                target = event["Properties"]["Queue"]["Fn::GetAtt"][1]
                logical = re.sub("^Outputs[.]|Arn$", "", target)
                name = queues[logical]["Properties"]["QueueName"]["Fn::Sub"]
                handlers.setdefault(function["Handler"], set()).add(name.split("${Stage}-")[1])
    named = {
        record["eventSourceARN"].rpartition("spinneret-local-")[2]
        for sample in samples().values()
        for record in sample.get("Records", ())
    }
    assert named <= set().union(*handlers.values())
    assert {handler for handler, lanes in handlers.items() if not lanes & named} == set()


def test_every_area_has_a_sample_for_each_of_its_schedules(templates: Templates) -> None:
    scheduled = Counter(
        function["Handler"].split(".")[0]
        for function in templates.functions().values()
        if any(event["Type"] == "Schedule" for event in function.get("Events", {}).values())
    )
    ticks = Counter(
        name.split("/")[0]
        for name, sample in samples().items()
        if not sample or sample.get("detail-type") == "Scheduled Event"
    )
    assert scheduled.keys() <= ticks.keys()
    assert {area: ticks[area] for area in scheduled if ticks[area] < scheduled[area]} == {}
