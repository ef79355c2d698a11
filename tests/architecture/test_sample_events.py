"""Every trigger that is a queue or a rule has a sample of its event, by which it can be invoked."""

from __future__ import annotations

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
