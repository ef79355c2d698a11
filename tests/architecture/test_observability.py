"""Alarms and dashboard read existing metrics and cover all functions and queues."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from spinneret.kernel import metrics
from spinneret.kernel.metrics import Metric
from tests.architecture.conftest import ROOT, Templates

ALARMS: Final = 30
ALARM_METRICS: Final = 10
"""Metrics that an alarm with metric math may read (CloudWatch quotas, "Alarms")."""
AREAS: Final = ("Core", "Crawl", "Search", "Audits", "Watch", "Marketplace")
OWN: Final = "spinneret-${Stage}"
OF_AWS: Final = {
    "AWS/ApiGateway": {"5XXError", "Latency"},
    "AWS/ES": {
        *("ClusterStatus.red", "ClusterStatus.yellow", "FreeStorageSpace"),
        *("JVMMemoryPressure", "CPUUtilization"),
    },
    "AWS/Lambda": {"Duration", "Errors", "Throttles"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage"},
    "AWS/States": {"ExecutionsFailed", "ExecutionsTimedOut"},
    OWN: {
        each.name
        for each in (*vars(metrics).values(), *metrics.DEPTHS.values())
        if isinstance(each, Metric)
    },
}
DECLARATIONS: Final = ROOT / "tests" / "unit" / "runtime" / "test_metrics.py"
"""A test that names metrics without running the code that records them."""
NAMED: Final = re.compile(r'"([a-z_]+)[".]')
QUEUE: Final = re.compile(r"spinneret-\$\{Stage\}-([a-z-]+)")


@pytest.fixture(scope="module")
def alarms(templates: Templates) -> dict[str, dict[str, Any]]:
    """Provide the alarms' properties by name."""
    found = templates.resources("AWS::CloudWatch::Alarm")
    return {name: each["Properties"] for name, each in found.items()}


@pytest.fixture(scope="module")
def symptoms(templates: Templates) -> dict[str, Any]:
    """Provide the properties of the only composite alarm."""
    [found] = templates.resources("AWS::CloudWatch::CompositeAlarm").values()
    return dict(found["Properties"])


def test_alarms_read_metrics_that_exist(alarms: dict[str, dict[str, Any]]) -> None:
    for name, alarm in alarms.items():
        read = [*_metrics(alarm)]
        assert read, name
        assert [pair for pair in read if pair[1] not in OF_AWS[pair[0]]] == [], name


def test_every_alarm_has_at_most_ten_metrics(alarms: dict[str, dict[str, Any]]) -> None:
    """Core already has ten functions: an eleventh needs a new area."""
    counts = {name: len([*_metrics(each)]) for name, each in alarms.items()}
    assert {name: count for name, count in counts.items() if count > ALARM_METRICS} == {}


def test_the_stage_s_silence_alarms(alarms: dict[str, dict[str, Any]]) -> None:
    """Both read a metric that each scheduled pass records, so a missing value is a fault."""
    silent = {name for name, each in alarms.items() if each["TreatMissingData"] == "breaching"}
    assert silent == {"DeadLetters", "SweeperSilent"}


def test_every_metric_of_alarms_and_dashboard_is_recorded_in_a_test(
    alarms: dict[str, dict[str, Any]], templates: Templates
) -> None:
    """For each metric, a test runs the code that records it and checks the recorded name."""
    read = {pair for alarm in alarms.values() for pair in _metrics(alarm)} | _shown(templates)
    names = {name for namespace, name in read if namespace == OWN}
    tests = {*(ROOT / "tests" / "unit").rglob("test_*.py")} - {DECLARATIONS}
    texts = [text for path in tests if "from tests.metrics import" in (text := path.read_text())]
    assert names - {name for text in texts for name in NAMED.findall(text)} == set()


def test_the_dashboard_shows_metrics_that_exist(templates: Templates) -> None:
    shown = _shown(templates)
    assert len(shown) > 20
    assert [each for each in shown if each[1] not in OF_AWS[each[0]]] == []


def test_one_fault_makes_one_alarm(
    alarms: dict[str, dict[str, Any]], symptoms: dict[str, Any]
) -> None:
    """Alarms of causes notify the topic; alarms of symptoms do so only by the composite alarm."""
    assert len(alarms) + 1 <= ALARMS
    shown, _, hidden = symptoms["AlarmRule"]["Fn::Sub"].partition("AND NOT")
    causes = {name for name, each in alarms.items() if "AlarmActions" in each}
    assert set(re.findall(r"\$\{(\w+)\}", hidden)) == causes
    assert set(re.findall(r"\$\{(\w+)\}", shown)) == alarms.keys() - causes
    assert "AlarmActions" in symptoms


def test_every_alarm_has_its_section(alarms: dict[str, dict[str, Any]]) -> None:
    text = (ROOT / "docs" / "runbook.md").read_text()
    sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    assert sections.keys() == {*alarms, "Symptoms"}
    for name, section in sections.items():
        for part in ("**Meaning:** ", "**First look:** ", "**Remedy:** ", "```\n"):
            assert part in section, name


def test_each_function_belongs_to_an_area_with_its_own_timeout(
    alarms: dict[str, dict[str, Any]], templates: Templates
) -> None:
    given = templates.root["Resources"]["Observability"]["Properties"]["Parameters"]
    functions = templates.functions()
    seen: list[str] = []
    for area in AREAS:
        names = [each["Ref"] for each in given[f"{area}Functions"]["Fn::Join"][1]]
        seen += names
        expression, *read = alarms[f"{area}Durations"]["Metrics"]
        text = expression["Expression"]
        shares = re.findall(r"/(\S+?)[,\]]", text["Fn::Sub"] if isinstance(text, dict) else text)
        assert shares == [_milliseconds(functions[name]["Timeout"]) for name in names]
        assert len(alarms[f"{area}Errors"]["Metrics"]) == len(read) + 1 == len(names) + 1
    assert sorted(seen) == sorted(functions)


def test_every_queue_is_watched(alarms: dict[str, dict[str, Any]], templates: Templates) -> None:
    watched = [
        queue
        for name in ("UrgentLanes", "NormalLanes", "LowLanes")
        for queue in QUEUE.findall(json.dumps(alarms[name]))
    ]
    queues = {
        queue
        for each in templates.resources("AWS::SQS::Queue").values()
        for queue in QUEUE.findall(json.dumps(each["Properties"].get("QueueName")))
    }
    assert sorted(watched) == sorted(name for name in queues if not name.endswith("-dead"))


def _shown(templates: Templates) -> set[tuple[str, str]]:
    [dashboard] = templates.resources("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["Properties"]["DashboardBody"]["Fn::Sub"])["widgets"]
    return {
        (each[0], each[1]) for widget in widgets for each in widget["properties"].get("metrics", ())
    }


def _metrics(alarm: dict[str, Any]) -> Iterator[tuple[str, str]]:
    stats = [
        each["MetricStat"]["Metric"] for each in alarm.get("Metrics", ()) if "MetricStat" in each
    ]
    for each in stats or [alarm]:
        namespace = each["Namespace"]
        yield namespace["Fn::Sub"] if isinstance(namespace, dict) else namespace, each["MetricName"]


def _milliseconds(timeout: Any) -> str:
    return "${CrawlTimeoutMs}" if isinstance(timeout, dict) else f"{timeout}000"
