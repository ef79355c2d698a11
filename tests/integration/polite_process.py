"""A worker as a process of its own that visits hosts through the product's wiring.

Reads orders, a JSON object per line (see `Orders`). To each it says that it is ready, waits for a
line, and reports as JSON lines what it was granted, when, and what became of each fetch.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final

from spinneret.aws.clients import s3_client
from spinneret.crawl.visits import Visits
from spinneret.jobs.ports import Claimed
from spinneret.jobs.worker import Context, Defer
from spinneret.kernel.clock import utc_now
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.models import FetchRequest
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy
from spinneret.web.hosts.wiring import host_pace, host_service
from spinneret.web.politeness.models import Outcome, PaceLimits, Permit, Wait
from spinneret.web.politeness.robots import product_token_of
from spinneret.web.politeness.robots_gate import RobotsGate
from spinneret.web.politeness.s3 import S3RobotsStore
from spinneret.web.politeness.service import Pace
from spinneret.web.proxies.wiring import ProxySettings, rotating_fetcher
from tests import factories
from tests.fakes.jobs import FakeJobStore

_TELLING: Final = Lock()


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What the process is to do."""

    tenant: str
    url: str
    stage: Mapping[str, str]
    """Variables of the environment."""
    fetches: int
    at_once: int = 1
    patient: bool = True
    """It comes back as often as it must; else it gives a fetch up that it has to wait for."""


@dataclass(frozen=True, kw_only=True)
class VisitSettings(ProxySettings):
    """The crawl worker's environment, as far as it visits sites."""

    content_bucket: str


def emit(**line: Any) -> None:
    with _TELLING:
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()


class ToldPace:
    """The pace of the product; every admission is reported."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    def admit(self, host: str, *, limits: PaceLimits, **given: Any) -> Permit | Wait:
        answer = self._pace.admit(host, limits=limits, **given)
        if isinstance(answer, Permit):
            emit(admitted=answer.seen.asked_at, strict=answer.request.shared.strict)
            if answer.probe:
                emit(probe=True)
        return answer

    def report(
        self, admitted: Permit, outcome: Outcome, *, retry_after: float | None = None
    ) -> None:
        self._pace.report(admitted, outcome, retry_after=retry_after)


def visits_of(settings: VisitSettings) -> Visits:
    fetcher = GuardedFetcher(
        policy=address_policy(settings),
        resolver=resolve_by_system,
        user_agent=settings.user_agent,
        monotonic=time.monotonic,
    )
    robots = RobotsGate(
        store=S3RobotsStore(s3_client(), settings.content_bucket),
        product_token=product_token_of(settings.user_agent),
        clock=utc_now,
    )
    return Visits(
        fetcher=rotating_fetcher(settings, fetcher),
        hosts=host_service(settings),
        pace=ToldPace(host_pace(settings)),  # type: ignore[arg-type]  # stands for a Pace
        robots=robots,
        clock=utc_now,
        sleep=time.sleep,
    )


def fetch(visits: Visits, orders: Orders) -> None:
    """One job, which goes back and comes again as the product's do."""
    job = factories.running_job(utc_now(), tenant=orders.tenant, created_at=utc_now())
    while True:
        claimed = Claimed(job=job, lease=factories.lease(job))
        context = Context(claimed, FakeJobStore(), utc_now, lambda: 60.0)
        try:
            page = visits.fetch(context, FetchRequest(url=orders.url))
        except Defer as wait:
            if not orders.patient:
                emit(postponed=wait.waiting_for)
                return
            time.sleep(max(0.0, (wait.until - utc_now()).total_seconds()))
            job = replace(job, waiting_for=wait.waiting_for)
        else:
            emit(fetched=page.status_code)
            return


def follow(orders: Orders) -> None:
    """All fetches of the orders, so many at once."""
    visits = visits_of(VisitSettings.from_env({**os.environ, **orders.stage}))
    with ThreadPoolExecutor(orders.at_once) as pool:
        emit(ready=True)
        sys.stdin.readline()
        list(pool.map(lambda _: fetch(visits, orders), range(orders.fetches)))
    emit(done=True)


if __name__ == "__main__":
    for line in iter(sys.stdin.readline, ""):
        follow(Orders(**json.loads(line)))
