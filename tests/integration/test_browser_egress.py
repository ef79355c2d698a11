"""On the real browser, no way out of a page reaches an address that the policy refuses.

The control test opens the same page in the same browser without our proxy and its flags.
"""

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from spinneret.kernel.errors import UrlBlocked
from spinneret.web.browser.chromium_process import FLAGS
from spinneret.web.browser.models import Pdf, RenderRequest
from spinneret.web.fetching.urls import parse_url
from tests.fakes.guarded_fetch import names_no_address
from tests.fakes.scripted_server import HOST, ScriptedServer, answer
from tests.integration.browsers import chromium, program
from tests.integration.ways_out import NAVIGATIONS, SITE, WAYS, Site, navigation

pytestmark = pytest.mark.heavy

CONTROL_SECONDS = 15.0
# Flags that restrict the page, in addition to DevTools; the control test omits them.
HELD_BY = (
    *("--proxy", "--host-resolver-rules", "--force-webrtc", "--webrtc", "--dns-prefetch"),
    "--block-new-web-contents",
)
CONTROL_WAYS = WAYS - {"icon"}  # headless browsers request no icons
POLL_SECONDS = 0.1


class Forbidden:
    """A loopback server that no page may reach, whether by a connection or by a datagram."""

    def __init__(self, server: ScriptedServer, datagrams: socket.socket) -> None:
        self.server = server
        self.datagrams = 0
        self._socket = datagrams
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()

    def _count(self) -> None:
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                self._socket.recv(2048)
                self.datagrams += 1

    @property
    def ways(self) -> set[str]:
        """Return the ways by which requests reached this server."""
        return {each.target.removeprefix("/") for each in self.server.requests} & WAYS


@pytest.fixture
def forbidden() -> Iterator[Forbidden]:
    inside = ScriptedServer(fallback=answer(b"inside"))
    with inside as server, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind((HOST, server.port))
        datagrams.settimeout(POLL_SECONDS)
        watch = Forbidden(server, datagrams)
        yield watch
        watch.stop()


def _resolve(host: str, port: int) -> list[str]:
    """Resolve every name to this machine, as a hostile name server does."""
    return [HOST]


@contextmanager
def _without_rules(site: ScriptedServer, path: str, profile: Path) -> Iterator[None]:
    """Open a page of the site in a browser without our restrictions."""
    flags = [flag for flag in FLAGS if not flag.startswith(HELD_BY)]
    names = f"--host-resolver-rules=MAP rebind.test {HOST}"
    url = f"http://{SITE}:{site.port}{path}"
    browser = subprocess.Popen(
        [program() / "chromium", *flags, names, f"--user-data-dir={profile}", url],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        browser.kill()
        browser.wait()
        shutil.rmtree(profile, ignore_errors=True)


# covers C-11, F-01
def test_no_way_out_of_a_page_reaches_a_refused_address(
    server: ScriptedServer, forbidden: Forbidden, tmp_path: Path
) -> None:
    Site(server, forbidden.server.port)
    browser = chromium(tmp_path, f"{SITE}:{server.port}", resolver=_resolve)
    url = parse_url(server.url(host=SITE))
    page = browser.render(RenderRequest(url=url, task=Pdf(), wait_seconds=3.0))
    assert page.status_code == 200
    asked = {each.target.partition("?")[0] for each in server.requests}
    assert {"/redirect", "/refresh", "/navigate", "/fetching", "/worker", "/importer"} <= asked
    assert forbidden.ways == set()
    assert (forbidden.server.connections, forbidden.datagrams) == (0, 0)


# covers C-11, F-01
@pytest.mark.parametrize("path", NAVIGATIONS)
def test_a_main_document_that_leads_to_a_refused_address_is_refused(
    server: ScriptedServer, forbidden: Forbidden, tmp_path: Path, path: str
) -> None:
    site = Site(server, forbidden.server.port)
    browser = chromium(tmp_path, f"{SITE}:{server.port}", resolver=_resolve)
    leading = navigation(path, site.target("main", "rebind.test:{port}"))
    request = RenderRequest(
        url=parse_url(server.url(leading, host=SITE)), task=Pdf(), wait_seconds=2.0
    )
    with pytest.raises(UrlBlocked, match=SITE) as refused:
        browser.render(request)
    assert names_no_address(refused.value, forbidden.server.port)
    assert forbidden.server.connections == 0


# covers C-11
def test_the_same_page_without_our_rules_reaches_everything(
    server: ScriptedServer, forbidden: Forbidden, tmp_path: Path
) -> None:
    Site(server, forbidden.server.port)
    ends_at = time.monotonic() + CONTROL_SECONDS
    with _without_rules(server, "/", tmp_path / "control"):
        while time.monotonic() < ends_at and (
            not forbidden.ways >= CONTROL_WAYS or not forbidden.datagrams
        ):
            time.sleep(0.05)
    assert forbidden.ways >= CONTROL_WAYS
    assert forbidden.datagrams > 0
