"""The deployed application after a stop, a crash of all parts, and a new stack.

Stored data is returned as before, under the same addresses and keys, and work in progress ends by
itself. `make prove` runs the test on an instance that keeps its data, with 1,000 documents; the
short form is `tests/stack/test_durable_data.py`.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest

from stack.instance import Instance
from stack.process import is_alive
from stack.workspace import Workspace
from tests.conftest import Aws, Stack
from tests.e2e.conftest import Deployed, Tenant
from tests.e2e.selling import connect
from tests.e2e.stopped_work import WORKS, Place, Work
from tests.e2e.website import Website
from tests.markets.server import MarketServer
from tests.site.server import serve
from tests.waiting import waited

VARIABLE: Final = "SPINNERET_DURABLE_DOCUMENTS"
DOCUMENTS: Final = int(os.environ.get(VARIABLE, "0"))
STORED_SECONDS: Final = 5.0 + DOCUMENTS
END_SECONDS: Final = 900.0  # the lease of a batch of listings ends after ten minutes
COMMAND_SECONDS: Final = 900.0
DURABLE_SECONDS: Final = 5.0
UNDER_WAY: Final = ("deep crawls", "batches", "publishing", "checks")

pytestmark = [
    pytest.mark.skipif(
        VARIABLE not in os.environ,
        reason=f"{VARIABLE} is unset; `make prove` sets it, for an instance that keeps its data",
    ),
    pytest.mark.alone,
    pytest.mark.timeout(2 * (END_SECONDS + COMMAND_SECONDS) + 10 * DOCUMENTS),
]


def _instance(stack: Stack) -> Instance:
    return Instance.named(stack.name, Workspace.from_environment(os.environ))


@pytest.fixture(scope="module")
def place(deployed: Deployed, aws: Aws, website: Website) -> Iterator[Place]:
    """Yield servers, and a seller that has connected the marketplaces."""
    assert _instance(deployed.stack).is_durable, "an instance of `stack run` keeps no data"
    with serve(deployed.site_port) as site_url, MarketServer(deployed.market_port) as markets:
        markets.etsy.visible_after = 0
        seller = deployed.tenant(scope="admin")
        for marketplace in ("ebay", "etsy"):
            connect(deployed, seller, marketplace)
        yield Place(deployed, aws, website, site_url, markets, seller)
        seller.close()


@pytest.fixture(scope="module")
def library(deployed: Deployed) -> Iterator[Tenant]:
    """Yield a tenant with documents, of which one is tagged and one is deleted."""
    tenant = deployed.tenant("admin")
    with ThreadPoolExecutor(4) as threads:
        ids = list(threads.map(lambda number: _document(tenant, number), range(DOCUMENTS)))
    waited(
        lambda: all(_is_stored(tenant, each) for each in ids),
        seconds=STORED_SECONDS + 60,
    )
    assert tenant("DELETE", f"/api/v1/documents/{ids[0]}").status_code == 204
    yield tenant
    tenant.close()


def _document(tenant: Tenant, number: int) -> str:
    body = {"title": f"Web {number}", "content": f"Orb web number{number} has sticky spirals."}
    answer = tenant("POST", "/api/v1/documents", body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["document_id"])


def _is_stored(tenant: Tenant, document_id: str) -> bool:
    return tenant("GET", f"/api/v1/documents/{document_id}").status_code == 200


def _answers(library: Tenant, seller: Tenant) -> dict[str, Any]:
    """Return the API's responses about everything that is stored."""
    documents: list[Any] = []
    query = "/api/v1/documents?limit=100"
    path = query
    while path:
        page = library.read(path)
        documents += page["items"]
        path = f"{query}&cursor={page['next_cursor']}" if page.get("next_cursor") else ""
    first = documents[0]["document_id"]
    content = library.read(f"/api/v1/documents/{first}")
    keys = library.read("/api/v1/api-keys")["items"]
    hits = library.search(f"number{DOCUMENTS - 1}")
    return {
        "documents": documents,
        "content": content,
        "hit": (hits[0]["document_id"], hits[0]["title"]),
        "connections": [
            seller.read(f"/api/marketplace/{each}/connection") for each in ("ebay", "etsy")
        ],
        "webhooks": seller.read("/api/v1/webhooks"),
        "targets": [
            {name: each[name] for name in ("target_id", "url", "interval_seconds", "paused")}
            for each in seller.read("/v1/targets?limit=100")["items"]
        ],
        "keys": [each["key_id"] for each in keys],
    }


def _stop_and_start(deployed: Deployed) -> None:
    _command(deployed, "down")
    _command(deployed, "deploy")


def _kill_everything(deployed: Deployed) -> None:
    instance = _instance(deployed.stack)
    saved = instance.kept("localstack") / "s3.pickle"
    begin = time.time()
    bucket = deployed.outputs["ContentBucket"]
    deployed.aws("s3").put_object(Bucket=bucket, Key="probe/late", Body=b"late")
    waited(lambda: saved.stat().st_mtime > begin, seconds=DURABLE_SECONDS)
    record = instance.read()
    assert record is not None
    processes = [process for part in record.parts for process in instance.processes(part)]
    for process in processes:
        os.kill(process.pid, signal.SIGKILL)
    waited(lambda: not any(is_alive(process) for process in processes), seconds=30)


def _crash(deployed: Deployed) -> None:
    _kill_everything(deployed)
    _command(deployed, "deploy")


def _reboot(deployed: Deployed) -> None:
    _kill_everything(deployed)
    instance = _instance(deployed.stack)
    record = instance.read()
    assert record is not None
    instance.write(replace(record, boot="another boot"))
    _command(deployed, "deploy")


def _deploy_another_template(deployed: Deployed) -> None:
    # A time-out is a property of functions and queues, so `deploy` makes a new stack.
    timeout = "60" if deployed.settings["SPINNERET_CRAWL_TIMEOUT"] == "30" else "30"
    _command(deployed, "deploy", SPINNERET_CRAWL_TIMEOUT=timeout)


def _command(deployed: Deployed, word: str, **environ: str) -> None:
    done = deployed.stack.command(word, seconds=COMMAND_SECONDS, **environ)
    assert done.returncode == 0, done.stdout + done.stderr


EVENTS: Final[Mapping[str, Callable[[Deployed], None]]] = {
    "down and up": _stop_and_start,
    "kill -9 of every process": _crash,
    "a reboot": _reboot,
    "another template": _deploy_another_template,
}


@pytest.mark.parametrize("event", EVENTS)
def test_everything_stored_stays_and_work_goes_on(
    event: str,
    deployed: Deployed,
    place: Place,
    library: Tenant,
    request: pytest.FixtureRequest,
) -> None:
    works: dict[str, Work] = {name: WORKS[name](place) for name in UNDER_WAY}
    before = _answers(library, place.seller)
    for work in works.values():
        request.addfinalizer(work.end)
        work.begin()
    EVENTS[event](deployed)
    assert _answers(library, place.seller) == before
    for work in works.values():
        work.submit()
    waited(lambda: all(work.ended() for work in works.values()), seconds=END_SECONDS)
    for work in works.values():
        work.prove()
