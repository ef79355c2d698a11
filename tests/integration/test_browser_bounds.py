"""Tests of the real browser: pages without bounds, and failures of the browser."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from spinneret.kernel.errors import (
    BrowserFailed,
    CallerDeadlineExceeded,
    DependencyUnavailable,
    DomainError,
    PageTooLarge,
    RenderTimeout,
    TooManyRedirects,
)
from spinneret.web.browser import limits
from spinneret.web.browser.chromium import ChromiumBrowser
from spinneret.web.browser.models import Dom, Pdf, RenderRequest, Screenshot, Scripts
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.urls import parse_url
from tests.fakes.guarded_fetch import USER_AGENT, no_names
from tests.fakes.scripted_server import (
    HOST,
    Behaviour,
    Exchange,
    ScriptedServer,
    answer,
    endless_chunks,
    in_turn,
    redirect,
)
from tests.integration.browsers import processes_of, render
from tests.sampling import sampled

pytestmark = pytest.mark.heavy

MEGABYTE = 1024 * 1024
SERVER_THREADS = 40  # threads of connections that are about to close
SLACK_SECONDS = 20.0  # tolerance beyond the time limit of a rendering, on a busy machine


def _script(code: str) -> Behaviour:
    return answer(f"<!doctype html><body><script>{code}</script>".encode())


PAGES: dict[str, tuple[Behaviour, type[DomainError]]] = {
    "computes without end": (_script("while (true);"), RenderTimeout),
    "fills its heap": (
        _script("const all = []; while (true) all.push(new Array(1e5).fill(all.length))"),
        PageTooLarge,
    ),
    "fills its memory": (
        _script("const all = []; while (true) all.push(new Uint8Array(2 ** 26).fill(1))"),
        PageTooLarge,
    ),
    "opens frames": (
        _script(
            "for (let i = 0; i < 1000; i++) document.body.append(document.createElement('iframe'))"
        ),
        PageTooLarge,
    ),
    "requests without end": (
        _script("for (let i = 0; i < 1000; i++) fetch('/?' + i)"),
        PageTooLarge,
    ),
    "loads without end": (
        in_turn(_script("fetch('/more')"), endless_chunks(MEGABYTE)),
        PageTooLarge,
    ),
    "is a document without end": (endless_chunks(MEGABYTE), PageTooLarge),
    "grows without end": (
        _script(
            "const line = 'x'.repeat(2 ** 20); for (let i = 0; i < 12; i++)"
            "document.body.append(line)"
        ),
        PageTooLarge,
    ),
    "goes around": (redirect("/"), TooManyRedirects),
    "goes on": (_script("location = '/?' + Math.random()"), TooManyRedirects),
    "asks the user": (_script("alert(1); while (true) confirm('well?')"), RenderTimeout),
}


# covers C-11
@pytest.mark.parametrize("what", sampled(PAGES, quick=0, tested=4))
def test_a_page_without_bounds_ends_with_a_clear_error(
    server: ScriptedServer, tmp_path: Path, what: str
) -> None:
    server.fallback, error = PAGES[what]
    seconds = 3.0 if error is RenderTimeout else 20.0
    began_at = time.monotonic()
    with pytest.raises(error, match=HOST):
        render(tmp_path, server, total_seconds=seconds, wait_seconds=2.0)
    assert time.monotonic() - began_at < seconds + SLACK_SECONDS
    assert processes_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_removes_itself_is_empty(server: ScriptedServer, tmp_path: Path) -> None:
    server.fallback = _script("document.documentElement.remove()")
    assert render(tmp_path, server).body == b"<!DOCTYPE html>\n"


def test_dialogs_are_dismissed(server: ScriptedServer, tmp_path: Path) -> None:
    server.fallback = _script("alert(1); window.said = confirm('well?')")
    page = render(tmp_path, server, task=Scripts(sources=("said",)))
    assert page.scripts[0].value == "false"


def test_an_image_of_a_page_that_is_too_high_is_cut(server: ScriptedServer, tmp_path: Path) -> None:
    server.fallback = answer(b"<!doctype html><body style='margin: 0; height: 100000px'>")
    page = render(tmp_path, server, task=Screenshot())
    assert page.is_cut
    assert int.from_bytes(page.body[20:24]) == limits.IMAGE_MAX_SIDE


@pytest.mark.parametrize("sheets", [510, pytest.param(10_000, marks=pytest.mark.proof)])
def test_a_pdf_with_too_many_sheets_is_refused(
    server: ScriptedServer, tmp_path: Path, sheets: int
) -> None:
    server.fallback = answer(b"<p style='break-after: page'>sheet" * sheets)
    with pytest.raises(PageTooLarge, match="500 sheets"):
        render(tmp_path, server, task=Pdf(), total_seconds=60.0)


def _signalled(number: signal.Signals) -> Callable[[Exchange, Path], None]:
    def behave(exchange: Exchange, scratch: Path) -> None:
        [profile] = scratch.iterdir()
        browsers = [
            int(each.name)
            for each in Path("/proc").iterdir()
            if each.name.isdigit() and _environment_names(each, profile)
        ]
        for process in browsers:
            os.kill(process, number)

    return behave


def _environment_names(process: Path, folder: Path) -> bool:
    try:
        return f"HOME={folder}".encode() in (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it ended, or belongs to another user
        return False


# covers C-11
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL])
def test_a_browser_that_stops_or_dies_ends_the_rendering(
    server: ScriptedServer, tmp_path: Path, number: signal.Signals
) -> None:
    behave = _signalled(number)
    server.fallback = lambda exchange: behave(exchange, tmp_path)
    began_at = time.monotonic()
    with pytest.raises(BrowserFailed):
        render(tmp_path, server, total_seconds=3.0)
    assert time.monotonic() - began_at < 3.0 + SLACK_SECONDS
    assert processes_of(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_the_deadline_of_the_caller_is_not_the_pages_fault(
    server: ScriptedServer, tmp_path: Path
) -> None:
    server.fallback = _script("while (true);")
    with pytest.raises(CallerDeadlineExceeded):
        render(tmp_path, server, left_seconds=lambda: 2.0)


def test_a_stage_without_a_browser_says_so(tmp_path: Path) -> None:
    missing = ChromiumBrowser(
        folder=tmp_path / "none",
        scratch=tmp_path,
        policy=AddressPolicy(),
        resolver=no_names,
        user_agent=USER_AGENT,
    )
    with pytest.raises(DependencyUnavailable, match="browser"):
        missing.render(RenderRequest(url=parse_url("https://site.test/"), task=Dom()))


@dataclass(frozen=True)
class Held:
    """Resources that this process holds."""

    children: int
    files: int
    threads: int
    memory: int

    @classmethod
    def now(cls) -> "Held":
        own = Path("/proc/self")
        resident = int((own / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        tasks = [(each / "children").read_text().split() for each in (own / "task").iterdir()]
        files = len(list((own / "fd").iterdir()))
        return cls(sum(map(len, tasks)), files, len(tasks), resident)


# covers C-11
@pytest.mark.parametrize("pages", [10, pytest.param(50, marks=pytest.mark.proof)])
def test_pages_in_a_row_leave_nothing(server: ScriptedServer, tmp_path: Path, pages: int) -> None:
    server.fallback = answer(b"<p>silk<script>setInterval(() => fetch('/more'), 50)</script>")
    for _ in range(3):  # the first renderings load modules and fill caches
        render(tmp_path, server)
    before = Held.now()
    for _ in range(pages):
        render(tmp_path, server)
    after = Held.now()
    assert (after.children, after.files) <= (before.children, before.files)
    assert after.threads <= before.threads + SERVER_THREADS
    assert after.memory < before.memory + 10 * MEGABYTE
    assert list(tmp_path.iterdir()) == []
