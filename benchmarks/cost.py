"""Print or write the tables of docs/cost.md: the cost of a stage.

    .venv/bin/python benchmarks/cost.py            print
    .venv/bin/python benchmarks/cost.py --write    write docs/cost.md

The idle cost follows from the templates: nodes, keys, secrets, alarms, rules and queues of a stage.
The price of work follows from counted calls (benchmarks/calls.json), list prices
(benchmarks/prices.py) and the times in docs/benchmarks.md.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "infra" / "local")]

from benchmarks.prices import (
    ALARM_METRIC,
    API_REQUEST,
    BUS_EVENT,
    COMPOSITE_ALARM,
    CUSTOM_METRIC,
    DASHBOARD,
    GIGABYTE_SECOND,
    GROUPED_MESSAGE,
    INVOCATION,
    KMS_KEY,
    MESSAGE,
    NODE_HOURS,
    READ,
    S3_READ,
    S3_WRITE,
    SEARCH_GIBIBYTE,
    SECRET,
    TRANSITION,
    WRITE,
)
from stack.deployment.templates import load
from tests.architecture.evaluation import evaluated

DOCUMENT: Final = REPOSITORY / "docs" / "cost.md"
BENCHMARKS: Final = REPOSITORY / "docs" / "benchmarks.md"
CALLS: Final = REPOSITORY / "benchmarks" / "calls.json"
START: Final = "<!-- cost -->"
HOURS: Final = 730
MINUTES: Final = HOURS * 60
SERIES: Final = 60
"""Maximum number of custom metrics (tests/unit/runtime/test_metrics.py). Each is billed only for
hours in which it has values."""
SIGNING_KEYS: Final = 2
"""Keys for users' tokens: the current signing key and the next one (docs/users.md)."""
POLLERS: Final = 5
POLLS: Final = 3
"""Long polls per minute of each poller of an idle queue (Lambda Developer Guide, "Amazon SQS")."""
LANE_SHARDS: Final = 16
"""Maximum number of index queries of an idle pass: shards of wake, resend and outbox."""


@dataclass(frozen=True)
class Timed:
    """Lambda's part of a flow."""

    gigabytes: float
    seconds: float
    requests: int = 0
    """Requests to the API."""
    messages: int = 0

    @property
    def dollars(self) -> float:
        """Price of Lambda's part of one run of the flow."""
        return (
            self.gigabytes * self.seconds * GIGABYTE_SECOND
            + INVOCATION
            + self.requests * API_REQUEST
            + 3 * self.messages * GROUPED_MESSAGE
        )


FLOWS: Final[Mapping[str, tuple[str, str, Timed]]] = {
    # name: flow of calls.json, its time as a text, Lambda's part
    "pages, in a batch": ("page in a batch", "0.5 s at 1 GB", Timed(1, 0.517, messages=1)),
    "pages, in a deep crawl": ("page in a deep crawl", "0.5 s at 1 GB", Timed(1, 0.463)),
    "searches": ("search, new query", "125 ms at 512 MB", Timed(0.5, 0.125, requests=1)),
    "searches, from the cache": (
        "search, answer cached",
        "20 ms at 512 MB",
        Timed(0.5, 0.02, requests=1),
    ),
    "checks of a target": ("check of a target", "250 ms at 512 MB", Timed(0.5, 0.25, messages=1)),
    "other requests": (
        "request, later in its second",
        "20 ms at 512 MB",
        Timed(0.5, 0.02, requests=1),
    ),
}
EMBEDDED: Final[Mapping[str, float]] = {"pages, in a batch": 0.4, "pages, in a deep crawl": 0.4}
"""Seconds per page of the embedder function (3,008 MB), which runs if EmbedderUrl is empty."""
MEASURED: Final = {
    # name: section of docs/benchmarks.md, its row that ends with dollars, factor to reach 1,000
    "audited pages": ("AWS usage of an audit", "together", 10),
    "listings, eBay or Etsy, in batches": ("Publishing", "ebay, in a batch of 10", 1),
    "listings, Vinted, one by one": ("Publishing", "vinted, one by one", 1),
}


def main() -> None:
    """Print the tables, or write them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write docs/cost.md")
    write = parser.parse_args().write
    if write:
        DOCUMENT.write_text(document(DOCUMENT.read_text()))
    else:
        print(tables())


def document(text: str) -> str:
    """Return the document with the tables of the current templates and calls."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(START)
    return f"{before}{START}\n{tables()}\n{START}{after}"


def tables() -> str:
    """Return both tables."""
    return "\n".join([*_idle_table(), "", *_work_table()])


def _idle_table() -> Iterator[str]:
    stages = {name: dict(_idle(name)) for name in ("staging", "production")}
    yield "| a month without work | staging | production |"
    yield "|---|---|---|"
    for row in stages["staging"]:
        yield f"| {row} | {' | '.join(f'${each[row]:.2f}' for each in stages.values())} |"
    totals = (f"**${sum(each.values()):.0f}**" for each in stages.values())
    yield f"| together | {' | '.join(totals)} |"


def _work_table() -> Iterator[str]:
    yield "| 1,000 … | DynamoDB | S3, SQS, events, steps | Lambda, API | together | Lambda's part |"
    yield "|---|---|---|---|---|---|"
    calls: dict[str, dict[str, float]] = json.loads(CALLS.read_text())
    for name, (flow, times, timed) in FLOWS.items():
        spent = calls[flow]
        table = spent.get("write units", 0) * WRITE + spent.get("read units", 0) * READ
        others = (
            spent.get("s3.PutObject", 0) * S3_WRITE
            + spent.get("s3.GetObject", 0) * S3_READ
            + spent.get("events.PutEvents", 0) * BUS_EVENT
            + spent.get("transitions", 0) * TRANSITION
        )
        parts = [1000 * each for each in (table, others, timed.dollars)]
        cells = " | ".join(f"${each:.4f}" for each in (*parts, sum(parts)))
        yield f"| {name} | {cells} | {times} |"
        if embedding := EMBEDDED.get(name):
            extra = 1000 * embedding * 3008 / 1024 * GIGABYTE_SECOND
            cells = f"${extra:.4f} | ${sum(parts) + extra:.4f} | {embedding} s at 3 GB"
            yield f"| … with the embedder as a function | | | {cells} |"
    benchmarks = BENCHMARKS.read_text()
    for name, (heading, row, times) in MEASURED.items():
        dollars = times * _dollars(benchmarks, heading, row)
        link = f"[{heading}](benchmarks.md#{heading.lower().replace(' ', '-')})"
        yield f"| {name} | | | | ${dollars:.2f} | {link} |"


def _dollars(text: str, heading: str, row: str) -> float:
    """Return the last figure of a row in a section of docs/benchmarks.md."""
    section = re.split(rf"^##+ {heading}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    found = re.search(rf"^\| {row} \|.* \$?([\d.]+) \|$", section, re.MULTILINE)
    assert found is not None, f"docs/benchmarks.md has no row {row!r} below {heading!r}"
    return float(found[1])


# ------------------------------------------------------------ A stage without work


def _idle(stage: str) -> Iterator[tuple[str, float]]:
    root, nested = _templates()
    domain = nested["search-domain.yaml"]
    given = dict.fromkeys(domain["Parameters"], "") | {"Stage": stage, "DedicatedMasters": "false"}
    properties = evaluated(domain, given)["Resources"]["Domain"]["Properties"]
    cluster, disk = properties["ClusterConfig"], properties["EBSOptions"]["VolumeSize"]
    nodes = cluster["InstanceCount"]
    hourly = NODE_HOURS[cluster["InstanceType"]]
    yield "OpenSearch: nodes", nodes * hourly * HOURS
    yield "OpenSearch: storage", nodes * disk * SEARCH_GIBIBYTE
    keys = _count(nested, "AWS::KMS::Key") + SIGNING_KEYS
    yield (
        f"KMS: {keys} keys; Secrets Manager",
        keys * KMS_KEY + SECRET * _count(nested, "AWS::SecretsManager::Secret"),
    )
    alarms = [
        each["Properties"]
        for each in nested["observability.yaml"]["Resources"].values()
        if each["Type"] == "AWS::CloudWatch::Alarm"
    ]
    read = sum(max(1, sum("MetricStat" in m for m in each.get("Metrics", ()))) for each in alarms)
    yield (
        f"CloudWatch: {len(alarms) + 1} alarms over {read} metrics, the dashboard",
        read * ALARM_METRIC + COMPOSITE_ALARM + DASHBOARD,
    )
    yield f"CloudWatch: metrics of our own, at most {SERIES}", SERIES * CUSTOM_METRIC
    queues = sum(
        event["Type"] == "SQS"
        for each in root["Resources"].values()
        for event in each.get("Properties", {}).get("Events", {}).values()
    )
    polls = queues * POLLERS * POLLS * MINUTES
    yield f"SQS: polls of {queues} queues", polls * MESSAGE
    yield "Lambda and DynamoDB: scheduled passes", sum(_passes(root))


def _passes(root: Mapping[str, Any]) -> Iterator[float]:
    """Yield the monthly price of each schedule.

    A pass takes 0.2 s of its function, and reads empty indexes.
    """
    per_month = {"minute": MINUTES, "minutes": MINUTES, "hour": HOURS, "day": HOURS / 24}
    for each in root["Resources"].values():
        properties = each.get("Properties", {})
        for event in properties.get("Events", {}).values():
            if event["Type"] == "Schedule":
                count, unit = event["Properties"]["Schedule"][5:-1].split()
                passes = per_month[unit] / int(count)
                memory = properties.get("MemorySize", 512) / 1024
                spent = 0.2 * memory * GIGABYTE_SECOND + INVOCATION + LANE_SHARDS * READ / 2
                yield passes * spent


def _count(nested: Mapping[str, Any], kind: str) -> int:
    return sum(
        each["Type"] == kind
        for template in nested.values()
        for each in template["Resources"].values()
    )


def _templates() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    infra = sorted((REPOSITORY / "infra").glob("*.yaml"))
    return load(REPOSITORY / "template.yaml"), {path.name: load(path) for path in infra}


if __name__ == "__main__":
    main()
