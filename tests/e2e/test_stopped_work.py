"""Every kind of work while every part of the stack is stopped, once and flapping.

`make test` runs a few short cells of the matrix, `make prove` runs all of them: with
`SPINNERET_OUTAGE_SECONDS`, a part stops once for that time, or flaps for `FLAPPING_SECONDS`. Each
stop adds a row to `.local/stopped_work.md`, in the form of the table in docs/job-kernel.md.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import pytest

from tests.conftest import ROOT, Aws
from tests.e2e.conftest import Deployed
from tests.e2e.selling import connect
from tests.e2e.stopped_work import WORKS, Place, Work
from tests.e2e.stopping import Part, flap, hang, part
from tests.e2e.website import Website
from tests.markets.server import MarketServer
from tests.site.server import serve

PROVEN: Final = "SPINNERET_OUTAGE_SECONDS" in os.environ
STOPPED_SECONDS: Final = float(os.environ.get("SPINNERET_OUTAGE_SECONDS", "10"))
FLAPPING_SECONDS: Final = 120.0
END_SECONDS: Final = 300.0
"""Maximum time from the part's final resume to the end of all work."""
PARTS: Final = (
    "functions",
    "emulator",
    "dynamodb",
    "opensearch",
    "embedder",
    "sqs",
    "s3",
    "stepfunctions",
)
WAYS: Final[Mapping[str, tuple[Callable[[Part, float], None], float]]] = {
    "once": (hang, STOPPED_SECONDS),
    "flapping": (flap, FLAPPING_SECONDS),
}


@dataclass(frozen=True)
class Stop:
    """A row of the matrix; the works, its columns, run at the same time."""

    part: str
    way: str
    works: tuple[str, ...]


ALL: Final = [Stop(name, way, tuple(WORKS)) for name in PARTS for way in WAYS]
SHORT: Final = [
    Stop("s3", "once", ("submissions", "batches")),
    Stop("stepfunctions", "once", ("deep crawls", "publishing")),
]

pytestmark = [
    pytest.mark.stack,
    pytest.mark.alone,
    pytest.mark.timeout(max(STOPPED_SECONDS, FLAPPING_SECONDS) + 2 * END_SECONDS, func_only=True),
]


@pytest.fixture(scope="module")
def place(deployed: Deployed, aws: Aws, website: Website) -> Iterator[Place]:
    """Yield a seller, servers, and functions that have started once."""
    with serve(deployed.site_port) as site_url, MarketServer(deployed.market_port) as markets:
        markets.etsy.visible_after = 0
        seller = deployed.tenant(scope="admin")
        for marketplace in ("ebay", "etsy"):
            connect(deployed, seller, marketplace)
        yield Place(deployed, aws, website, site_url, markets, seller)
        seller.close()


@pytest.mark.parametrize(
    "stop", ALL if PROVEN else SHORT, ids=lambda stop: f"{stop.part}-{stop.way}"
)
def test_work_is_done_once_although_a_part_stops(
    stop: Stop, place: Place, request: pytest.FixtureRequest
) -> None:
    works: dict[str, Work] = {name: WORKS[name](place) for name in stop.works}
    for work in works.values():
        request.addfinalizer(work.end)
        work.begin()
    way, seconds = WAYS[stop.way]
    with ThreadPoolExecutor(len(works)) as threads:
        submitting = {name: threads.submit(work.submit) for name, work in works.items()}
        way(part(place.deployed.stack, stop.part), seconds)
        cells = _ends(works, submitting, resumed=time.monotonic())
    failures = {name: _failure(submitting[name], work) for name, work in works.items()}
    failures = {name: failure for name, failure in failures.items() if failure is not None}
    cells |= dict.fromkeys(failures, "failed")
    _note(stop, cells)
    assert failures == {}


def _ends(
    works: Mapping[str, Work], submitting: Mapping[str, Future[None]], resumed: float
) -> dict[str, str]:
    """Return the seconds from the part's resume to the end of each work."""
    after: dict[str, str] = {}
    while len(after) < len(works) and time.monotonic() < resumed + END_SECONDS:
        for name, work in works.items():
            if name not in after and submitting[name].done() and work.ended():
                after[name] = f"{time.monotonic() - resumed:.0f}"
        time.sleep(0.5)
    return after


def _failure(submitting: Future[None], work: Work) -> str | None:
    try:
        submitting.result()
        work.prove()
    except AssertionError as error:
        return str(error)
    return None


def _note(stop: Stop, cells: Mapping[str, str]) -> None:
    row = " | ".join([stop.part, stop.way, *(cells.get(name, "") for name in WORKS)])
    with (ROOT / ".local" / "stopped_work.md").open("a") as file:
        file.write(f"| {row} |\n")
