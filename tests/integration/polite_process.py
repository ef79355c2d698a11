"""A worker as a process of its own that fetches through the product's wiring.

Reads orders, a JSON object per line (see `Orders`). To each it says that it is ready, waits for a
line, and reports as JSON lines what it was granted, when, and what became of each fetch.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final

from spinneret.aws.stage import Stage
from spinneret.kernel.clock import utc_now
from spinneret.web.fetching.models import FetchedPage, FetchRequest
from spinneret.web.fetching.urls import parse_url
from spinneret.web.models import Caller
from spinneret.web.polite_fetcher import PoliteFetcher
from spinneret.web.politeness.models import HostOutcome, PaceLimits, Permit, Wait
from spinneret.web.politeness.service import HostRateLimiter
from spinneret.web.wiring import POLITE_FETCHING, polite_fetcher

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


def emit(**line: Any) -> None:
    with _TELLING:
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()


class ReportedPace:
    """The pace of the product; every admission is reported."""

    def __init__(self, pace: HostRateLimiter) -> None:
        self._pace = pace
        self.ledger, self.new_token = pace.ledger, pace.new_token

    def admit(self, host: str, *, limits: PaceLimits, **given: Any) -> Permit | Wait:
        answer = self._pace.admit(host, limits=limits, **given)
        if isinstance(answer, Permit):
            emit(admitted=answer.seen.asked_at, strict=answer.request.shared.strict)
            if answer.probe:
                emit(probe=True)
        return answer

    def report(self, admitted: Permit, outcome: HostOutcome, **given: Any) -> None:
        self._pace.report(admitted, outcome, **given)


def fetcher_of(stage: Stage) -> PoliteFetcher:
    """The product's, but for the reports of its permits."""
    fetcher = polite_fetcher(stage)
    services = fetcher._services
    pace: Any = ReportedPace(services.pace)
    fetcher._services = replace(services, pace=pace)
    return fetcher


def fetch(fetcher: PoliteFetcher, orders: Orders, number: int) -> None:
    """One fetch, which waits and comes again as a job does."""
    caller = Caller(tenant=orders.tenant, id=f"{os.getpid()}/{number}")
    while True:
        answer = fetcher.fetch(caller, FetchRequest(url=parse_url(orders.url)))
        if isinstance(answer, FetchedPage):
            emit(fetched=answer.status_code)
            return
        if not orders.patient:
            emit(postponed=answer.waiting_for)
            return
        time.sleep(max(0.0, (answer.until - utc_now()).total_seconds()))
        caller = replace(caller, reservation=answer.waiting_for)


def follow(orders: Orders) -> None:
    """All fetches of the orders, so many at once."""
    fetcher = fetcher_of(Stage({**os.environ, **orders.stage}, POLITE_FETCHING))
    with ThreadPoolExecutor(orders.at_once) as pool:
        emit(ready=True)
        sys.stdin.readline()
        list(pool.map(lambda number: fetch(fetcher, orders, number), range(orders.fetches)))
    emit(done=True)


if __name__ == "__main__":
    for line in iter(sys.stdin.readline, ""):
        follow(Orders(**json.loads(line)))
