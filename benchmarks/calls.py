"""Compare calls, units and transitions of each flow with the committed table.

    .venv/bin/python benchmarks/calls.py            compare with benchmarks/calls.json
    .venv/bin/python benchmarks/calls.py --write    measure again and write the table

The benchmark uses the product's adapters and services. moto behind a loopback port replaces AWS,
and units follow DynamoDB's rules (benchmarks/capacity.py). A figure is the mean of a flow, and
includes a share of the work that happens once in several pages or checks. `make test` compares: a
change that adds a call fails until the table is updated.
"""

import argparse
import json
import logging
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

REPOSITORY: Final = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / each) for each in ("layers/common", "infra/local", ".")]

import boto3
from botocore.config import Config
from moto import mock_aws

from benchmarks.crawl_process import Application, environment
from benchmarks.crawl_servers import generated, moto_bridge, quick_embedder
from benchmarks.jobs import Kernel
from benchmarks.prices import Spending
from spinneret.access.keys.dynamo import DynamoKeyStore
from spinneret.access.keys.dynamo_windows import DynamoRateLimitStore
from spinneret.access.keys.models import Scope
from spinneret.access.keys.service import KeyService
from spinneret.aws import clients
from spinneret.content.caches.dynamo import DynamoCacheStore
from spinneret.content.caches.service import Caches
from spinneret.content.documents.dynamo import DynamoDocumentStore
from spinneret.content.search.models import Query
from spinneret.content.search.service import SearchService
from spinneret.jobs import limits as jobs_limits
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.monitoring.checks.dynamo import DynamoCheckStore
from spinneret.monitoring.checks.service import CheckDisposition, Checker
from spinneret.monitoring.due.models import DueTarget
from spinneret.monitoring.slots.dynamo import DynamoSlotStore
from spinneret.monitoring.targets.dynamo import DynamoTargetStore
from spinneret.monitoring.windows.dynamo import DynamoWindowStore
from spinneret.monitoring.windows.service import Maintenance
from spinneret.web import limits as web_limits
from spinneret.web.hosts.dynamo import DynamoHostStore
from spinneret.web.politeness.dynamo import DynamoHostStateStore
from tests import factories
from tests.factories import TENANT
from tests.fakes.checking import FAST, CheckWorld
from tests.fakes.politeness import pace_at
from tests.fakes.search import FakeChunkIndex, FakeEmbedder
from tests.fakes.time import HandClock, plenty

TABLE: Final = Path(__file__).with_suffix(".json")
PAGES: Final = 5
JOBS: Final = 3
HITS: Final = 10
CHECKS: Final = 65
"""More than one hour of checks, one per minute, so that the mean includes the end of an hour."""

Figures = dict[str, float]
"""Amounts by name: units, transitions, and calls such as `dynamodb.GetItem`."""


def main() -> None:
    """Compare the calls with the table, or write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="write the table")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if chosen.child:
        print(json.dumps(measured(json.loads(chosen.child))))
        return
    found = over_moto()
    print(markdown(found))
    if chosen.write:
        TABLE.write_text(json.dumps(found, indent=2) + "\n")
        return
    changes = differences(json.loads(TABLE.read_text()), found)
    if changes:
        print("\n".join(["", *changes]))
        raise SystemExit("the calls changed: run benchmarks/calls.py --write if that is intended")


def over_moto() -> dict[str, Figures]:
    """Measure all flows in a child process that uses the moto of this process as AWS."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "000000000000",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with (
        mock_aws(),
        moto_bridge() as aws,
        quick_embedder() as model,
        generated(0, 2 * PAGES + 1) as site,
    ):
        env = environment(int(site.rpartition(":")[2]), embedder_url=model)
        done = subprocess.run(
            [sys.executable, __file__, "--child", json.dumps({"site": site, "env": env})],
            env={**os.environ, "AWS_ENDPOINT_URL": aws},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Figures] = json.loads(done.stdout)
    return found


def differences(table: Mapping[str, Figures], found: Mapping[str, Figures]) -> list[str]:
    """Return a line for each amount that differs from the table.

    Units may differ by less than one: a row whose size is close to a multiple of 1 KB takes one
    unit more or less, depending on the digits of its latencies.
    """
    return [
        f"{flow}, {name}: {found.get(flow, {}).get(name, 0)} "
        f"instead of {table.get(flow, {}).get(name, 0)}"
        for flow in sorted({*table, *found})
        for name in sorted({*table.get(flow, {}), *found.get(flow, {})})
        if _differ(name, table.get(flow, {}).get(name, 0), found.get(flow, {}).get(name, 0))
    ]


def _differ(name: str, wanted: float, found: float) -> bool:
    return abs(wanted - found) >= 1 if name.endswith(" units") else wanted != found


def markdown(found: Mapping[str, Figures]) -> str:
    """Return the table of docs/benchmarks.md."""
    rows = ["| flow | DynamoDB calls | write units | read units | S3 writes | transitions |"]
    rows.append("|---|---|---|---|---|---|")
    for flow, figures in found.items():
        calls = sum(n for name, n in figures.items() if name.startswith("dynamodb."))
        names = ("write units", "read units", "s3.PutObject", "transitions")
        cells = [calls, *(figures.get(name, 0) for name in names)]
        rows.append(f"| {flow} | {' | '.join(f'{each:.3g}' for each in cells)} |")
    return "\n".join(rows)


# ------------------------------------------------------------ The flows


def measured(given: dict[str, Any]) -> dict[str, Figures]:
    """Measure all flows in this process."""
    patient = clients.CONFIG.merge(Config(read_timeout=60))  # moto takes longer than DynamoDB
    clients.CONFIG = patient  # type: ignore[misc]  # for this process
    jobs_limits.HOLD_KNOWN_SECONDS = 86_400.0  # type: ignore[misc]  # moto is too slow
    env: dict[str, str] = given["env"]
    seconds = web_limits.SETTINGS_KNOWN_SECONDS
    web_limits.SETTINGS_KNOWN_SECONDS = 86_400.0  # type: ignore[misc]  # as above
    crawls = _crawls(given["site"], env)
    web_limits.SETTINGS_KNOWN_SECONDS = seconds  # type: ignore[misc]  # checks are a minute apart
    flows: dict[str, Callable[[dict[str, str]], dict[str, Figures]]] = {
        "job": _job,
        "search": _searches,
        "check": _check,
        "request": _requests,
    }
    return crawls | {name: each for flow in flows.values() for name, each in flow(env).items()}


def _figures(before: Mapping[str, float], after: Mapping[str, float], times: int) -> Figures:
    found = {name: (after[name] - before.get(name, 0)) / times for name in after}
    return {name: round(each, 3) for name, each in sorted(found.items()) if each}


def _crawls(site: str, env: dict[str, str]) -> dict[str, Figures]:
    app = Application(env)
    app.batch([f"{site}/page/{2 * PAGES}"])

    def so_far() -> Figures:
        transitions = {"transitions": float(app.transitions)}
        return _spent(app.spending) | transitions

    before = so_far()
    app.batch([f"{site}/page/{n}" for n in range(PAGES, 2 * PAGES)])
    between = so_far()
    app.deep(f"{site}/", PAGES)
    return {
        "page in a batch": _figures(before, between, PAGES),
        "page in a deep crawl": _figures(between, so_far(), PAGES),
    }


def _spent(spending: Spending) -> Figures:
    units = {"write units": spending.writes, "read units": spending.reads}
    return {**spending.calls, **units}


class Measured:
    """Clients whose calls are counted."""

    def __init__(self) -> None:
        session = boto3.session.Session()
        self._spending = Spending(session.events)
        self.dynamodb: Any = session.resource("dynamodb").meta.client

    def flow(self, action: Callable[[], object], times: int = 1) -> Figures:
        """Return the mean figures of one of `times` repetitions."""
        before = Counter(_spent(self._spending))
        for _ in range(times):
            action()
        return _figures(before, _spent(self._spending), times)


def _job(_env: dict[str, str]) -> dict[str, Figures]:
    session = boto3.session.Session()
    spending = Spending(session.events)
    kernel = Kernel(session)

    def once() -> None:
        job_id = kernel.submit()
        kernel.poll(lambda: job_id in kernel.done)

    before = _spent(spending)
    for _ in range(JOBS):
        once()
    found = _figures(before, _spent(spending), JOBS)
    poller = {"sqs.ReceiveMessage", "sqs.DeleteMessage"}  # calls of Lambda's poller
    return {"job that does nothing": {k: each for k, each in found.items() if k not in poller}}


def _searches(env: dict[str, str]) -> dict[str, Figures]:
    aws, index = Measured(), FakeChunkIndex()
    documents = DynamoDocumentStore(aws.dynamodb, env["DOCUMENTS_TABLE"], env["JOBS_TABLE"])
    for number in range(2 * HITS):
        document = factories.document(id=f"doc_{number:02}", url=f"https://site.example/{number}")
        documents.commit(document, None)
        index.write(
            [
                factories.indexed_chunk(
                    f"silk of spider {number}", document_id=document.id, version=document.version
                )
            ],
            plenty,
        )
    service = SearchService(
        embedder=FakeEmbedder(),
        index=index,
        documents=documents,
        caches=Caches(store=DynamoCacheStore(aws.dynamodb, env["CACHES_TABLE"]), clock=utc_now),
        new_id=id_maker(utc_now),
    )
    query = Query(tenant=TENANT, text="silk of spiders", limit=HITS, collapse=False)
    found = {}
    for name, cached in (("search, new query", False), ("search, answer cached", True)):

        def search(*, cached: bool = cached) -> None:
            result = service.search(query, plenty)
            assert (result.result_cached, len(result.hits)) == (cached, HITS), result

        found[name] = aws.flow(search)
    return found


def _check(env: dict[str, str]) -> dict[str, Figures]:
    aws, world, url = Measured(), CheckWorld(), "https://site.example/health"
    targets = DynamoTargetStore(aws.dynamodb, env["TARGETS_TABLE"])
    world.targets.store = targets
    world.host_service.store = DynamoHostStore(aws.dynamodb, env["DOMAINS_TABLE"])
    ledger = DynamoHostStateStore(aws.dynamodb, env["DOMAINS_TABLE"])
    world.pace = world.host_service.pace = pace_at(ledger, world.clock, FAST)
    slots = DynamoSlotStore(aws.dynamodb, env["TARGETS_TABLE"])
    windows = DynamoWindowStore(aws.dynamodb, env["TARGETS_TABLE"])
    parts = world.parts(
        targets=targets,
        checks=DynamoCheckStore(aws.dynamodb, env["TARGETS_TABLE"], env["CHECKS_TABLE"]),
        slots=slots,
        maintenance=Maintenance(store=windows, clock=world.clock),
    )
    target_id = world.target(url, interval_seconds=60)
    numbers = iter(range(CHECKS))
    worker = world.worker_slot()
    worker = replace(worker, until=world.clock() + timedelta(days=1))
    first = targets.get("acme", target_id)
    assert first is not None
    due_at = first.state.due_at
    assert due_at is not None

    def check() -> None:
        nonlocal due_at
        assert due_at is not None
        world.clock.now = max(world.clock.now, due_at)
        world.sites.seconds["site.example"] = 0.05 + 0.013 * (next(numbers) % 20)
        found = DueTarget(
            tenant="acme",
            target_id=target_id,
            host="site.example",
            due_at=due_at,
            until=due_at + timedelta(seconds=60),
        )
        assert Checker(parts=parts).check(found, worker) is CheckDisposition.CHECKED
        due_at += timedelta(seconds=60)

    return {"check of a target": aws.flow(check, CHECKS)}


def _requests(env: dict[str, str]) -> dict[str, Figures]:
    aws, clock = Measured(), HandClock()
    keys = KeyService(
        keys=DynamoKeyStore(aws.dynamodb, env["TENANCY_TABLE"]),
        windows=DynamoRateLimitStore(aws.dynamodb, env["TENANCY_TABLE"]),
        clock=clock,
        new_id=id_maker(clock),
        random=os.urandom,
    )
    _, secret = keys.issue(f"t{uuid4().hex[:8]}", "calls", frozenset({Scope.READ}))

    def request(seconds: float) -> None:
        clock.advance(seconds)
        assert keys.take(keys.authenticate(secret)) is not None

    return {
        "request, first of a process": aws.flow(partial(request, 60.0)),
        "request, first of its second": aws.flow(partial(request, 1.0), 4),
        "request, later in its second": aws.flow(partial(request, 0.0)),
    }


if __name__ == "__main__":
    main()
