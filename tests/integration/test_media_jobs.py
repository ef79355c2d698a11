"""Screenshot jobs on the real browser, with failing browsers and workers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from spinneret.jobs.models import JobRef, JobStatus
from spinneret.media.api_models import PdfRequest, ScreenshotRequest, ScriptsRequest
from spinneret.web.browser.chromium import ChromiumBrowser
from spinneret.web.browser.models import RenderedPage, RenderRequest
from spinneret.web.fetching.addresses import AddressPolicy
from tests.conftest import ROOT
from tests.fakes.media import MediaWorld
from tests.fakes.scripted_server import Exchange, ScriptedServer, answer
from tests.integration.browsers import chromium, processes_of
from tests.waiting import waited

PAGE = answer(b"<!doctype html><title>Silk</title><p>Orb weavers eat old silk.")
SECONDS = 20.0


class ShortBrowser:
    """The real browser with a time limit of three seconds per page."""

    def __init__(self, browser: ChromiumBrowser) -> None:
        self._browser = browser

    def render(self, request: RenderRequest) -> RenderedPage:
        return self._browser.render(replace(request, total_seconds=3.0))


@pytest.fixture
def media(server: ScriptedServer, tmp_path: Path) -> MediaWorld:
    server.fallback = PAGE
    server.behaviours["/robots.txt"] = answer(b"")
    world = MediaWorld()
    world.serve_robots("", server.url("").rstrip("/"))
    world.policy = AddressPolicy(frozenset({server.pair}))
    world.browser = chromium(tmp_path, server.pair)
    return world


def submitted(media: MediaWorld, server: ScriptedServer) -> JobRef:
    request = ScreenshotRequest(url=server.url("/"), wait_seconds=0.0)
    made = media.service.screenshot("acme", request, None)
    return JobRef(tenant="acme", job_id=made.reply.body["job_id"])


def kill_once(scratch: Path, number: signal.Signals) -> Iterator[None]:
    """Send the signal to the browser's processes at the first step; do nothing at later ones."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit() and _is_below(each, scratch):
            os.kill(int(each.name), number)
    yield
    while True:
        yield


def _is_below(process: Path, scratch: Path) -> bool:
    try:
        return f"HOME={scratch}/".encode() in (process / "environ").read_bytes()
    except OSError:  # it ended, or belongs to another user
        return False


# covers C-11
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_job_whose_browser_stops_or_dies_is_tried_again(
    media: MediaWorld, server: ScriptedServer, tmp_path: Path, number: signal.Signals
) -> None:
    assert isinstance(media.browser, ChromiumBrowser)
    media.browser = ShortBrowser(media.browser)
    kills = kill_once(tmp_path, number)

    def behave(exchange: Exchange) -> None:
        next(kills)
        PAGE(exchange)

    server.fallback = behave
    ref = submitted(media, server)
    [sent] = media.queue.take()
    job = media.run(sent.ref)
    assert (job.status, job.attempts) == (JobStatus.PENDING, 1)
    assert job.last_error is not None
    assert job.last_error.code == "BROWSER_FAILED"
    assert media.media.objects == {}
    media.settle()
    assert media.job(ref).status is JobStatus.COMPLETED
    assert list(media.media.objects) == [f"T/acme/{ref.job_id}.png"]
    assert processes_of(tmp_path) == []


_WORKER = """
import sys
from pathlib import Path
from spinneret.web.browser.models import Dom, RenderRequest
from spinneret.web.fetching.urls import parse_url
from tests.integration.browsers import chromium
url, pair, scratch = sys.argv[1:]
request = RenderRequest(url=parse_url(url), task=Dom(), wait_seconds=30.0)
chromium(Path(scratch), pair).render(request)
"""


# covers C-11
def test_a_killed_worker_leaves_no_process(server: ScriptedServer, tmp_path: Path) -> None:
    opened = Event()

    def behave(exchange: Exchange) -> None:
        PAGE(exchange)
        opened.set()

    server.fallback = behave
    worker = subprocess.Popen(
        [sys.executable, "-c", _WORKER, server.url("/"), server.pair, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}/layers/common:{ROOT}/infra/local:{ROOT}"},
    )
    try:
        assert opened.wait(SECONDS)
        assert processes_of(tmp_path)
    finally:
        worker.kill()
        worker.wait()
    waited(
        lambda: [each for each in processes_of(tmp_path) if _WORKER not in each],
        lambda left: not left,
        seconds=SECONDS,
    )


def test_all_kinds_of_media_have_their_objects(media: MediaWorld, server: ScriptedServer) -> None:
    url = server.url("/")
    media.service.pdf("acme", PdfRequest(url=url, wait_seconds=0.0), None)
    pdf = media.settle()
    media.service.scripts("acme", ScriptsRequest(url=url, scripts=("document.title",)), None)
    scripts = media.settle()
    assert media.media.objects[(pdf.result or {})["key"]].startswith(b"%PDF-")
    assert (scripts.result or {})["scripts"] == [{"value": "Silk", "error": None}]


@pytest.mark.parametrize("jobs", [5, pytest.param(50, marks=pytest.mark.proof)])
def test_jobs_in_a_row_leave_nothing(
    media: MediaWorld, server: ScriptedServer, tmp_path: Path, jobs: int
) -> None:
    submitted(media, server)
    media.settle()
    before = _resident()
    for _ in range(jobs):
        ref = submitted(media, server)
        media.settle()
        assert media.job(ref).status is JobStatus.COMPLETED
        media.media.objects.clear()
    assert _resident() < before + 20 * 1024 * 1024
    assert processes_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def _resident() -> int:
    """Return the resident memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")
