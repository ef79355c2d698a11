"""Program of a worker process that fetches through the product's wiring.

It reads orders, one JSON object per line (see `Orders`). For each order, it reports that it is
ready, waits for a line, and starts. It then reports as JSON lines its admissions, their times, and
the outcome of each fetch.
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
    """Work for the process."""

    tenant: str
    url: str
    stage: Mapping[str, str]
    """Environment variables of the stage."""
    fetches: int
    at_once: int = 1
    patient: bool = True
    """Whether to retry a postponed fetch until it succeeds instead of giving it up."""


def emit(**line: Any) -> None:
    with _TELLING:
        sys.stdout.write(f"{json.dumps(line)}\n")
        sys.stdout.flush()


class ReportedPace:
    """The product's rate limiter of hosts, which also reports every admission."""

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
    """Return the product's fetcher, whose rate limiter reports its permits."""
    fetcher = polite_fetcher(stage)
    services = fetcher._services
    pace: Any = ReportedPace(services.pace)
    fetcher._services = replace(services, pace=pace)
    return fetcher


def fetch(fetcher: PoliteFetcher, orders: Orders, number: int) -> None:
    """Fetch the page once; if the fetch is postponed, wait and retry as a job does."""
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
    """Perform all fetches of the orders, at most `at_once` at a time."""
    fetcher = fetcher_of(Stage({**os.environ, **orders.stage}, POLITE_FETCHING))
    with ThreadPoolExecutor(orders.at_once) as pool:
        emit(ready=True)
        sys.stdin.readline()
        list(pool.map(lambda number: fetch(fetcher, orders, number), range(orders.fetches)))
    emit(done=True)


if __name__ == "__main__":
    for line in iter(sys.stdin.readline, ""):
        follow(Orders(**json.loads(line)))
