"""Metrics that CloudWatch reads from the log, and their maximum number."""

import json
from collections import Counter
from contextlib import suppress

import pytest

from spinneret.kernel import metrics
from spinneret.kernel.metrics import Metric
from spinneret.runtime.metrics import measured, write
from tests.metrics import recorded

SERIES = 60
"""Maximum number of series; each costs $0.30 a month (CloudWatch's list price, us-east-1,
2026-11)."""
OF_THE_SOURCE = [
    "requests_total",
    "crawls_total",
    "crawls_succeeded",
    "crawls_failed",
    "searches_total",
    "cache_hits",
    "cache_misses",
    "webhooks_delivered",
    "webhooks_failed",
    "queue_depth_high",
    "queue_depth_normal",
    "queue_depth_low",
    "queue_depth_dlq",
    "active_deep_crawls",
    "documents_total",
    "chunks_total",
    "crawl_duration_ms",
    "search_duration_ms",
    "embedding_duration_ms",
]
METRICS = [
    *(each for each in vars(metrics).values() if isinstance(each, Metric)),
    *metrics.DEPTHS.values(),
]


@pytest.fixture(autouse=True)
def _nothing_before() -> None:
    recorded()


# covers P-12
def test_the_metrics_have_the_source_s_names_and_few_series() -> None:
    names = Counter(each.name for each in METRICS)
    assert set(names.values()) == {1}
    assert set(OF_THE_SOURCE) <= names.keys()
    assert sum(each.series for each in METRICS) <= SERIES


def test_an_invocation_writes_one_line_and_one_for_each_value_of_a_dimension(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "spinneret-staging")
    with suppress(LookupError), measured("search-api"):
        metrics.SEARCHES.add()
        metrics.SEARCHES.add()
        metrics.SEARCH_DURATION.add(3)
        metrics.SEARCH_DURATION.add(5.5)
        metrics.REQUESTS.add(of="search")
        metrics.CACHE_HITS.add(2, "query")
        raise LookupError
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["function"] for line in lines} == {"search-api"}
    directives = [line["_aws"]["CloudWatchMetrics"][0] for line in lines]
    assert {each["Namespace"] for each in directives} == {"spinneret-staging"}
    assert [each["Dimensions"] for each in directives] == [[[]], [["area"]], [["cache"]]]
    assert directives[0]["Metrics"] == [
        {"Name": "searches_total", "Unit": "Count"},
        {"Name": "search_duration_ms", "Unit": "Milliseconds"},
    ]
    assert (lines[0]["searches_total"], lines[0]["search_duration_ms"]) == ([2], [3, 5.5])
    assert (lines[1]["area"], lines[1]["requests_total"]) == ("search", [1])
    write("search-api")
    assert capsys.readouterr().out == ""


def test_more_values_than_a_line_holds_make_more_lines(capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(200):
        metrics.EMBEDDING_DURATION.add(number)
    write("reconcile")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [value for line in lines for value in line["embedding_duration_ms"]] == [*range(200)]
    assert max(len(line["embedding_duration_ms"]) for line in lines) <= 100


def test_an_undeclared_value_of_a_dimension_makes_no_series_of_its_own() -> None:
    for name in ("tenant-one", "tenant-two", "crawl"):
        metrics.REQUESTS.add(of=name)
    assert recorded() == {"requests_total.other": [2], "requests_total.crawl": [1]}


@pytest.mark.parametrize(
    ("lane", "name"),
    [
        ("crawl-high", "queue_depth_high"),
        ("documents-low", "queue_depth_low"),
        ("crawl-normal", "queue_depth_normal"),
        ("delivery", "queue_depth_normal"),
    ],
)
def test_a_lane_counts_to_its_priority(lane: str, name: str) -> None:
    assert metrics.depth_of(lane).name == name
