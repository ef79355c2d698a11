"""The real browser, installed as in the local stack, on pages of a scripted server."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from spinneret.web.browser.chromium import ChromiumBrowser
from spinneret.web.browser.models import Dom, RenderedPage, RenderRequest
from spinneret.web.fetching.addresses import AddressPolicy
from spinneret.web.fetching.ports import Resolver
from spinneret.web.fetching.urls import parse_url
from stack.tools.chromium import chromium_tool
from stack.tools.store import Store
from stack.workspace import Workspace
from tests.fakes.guarded_fetch import USER_AGENT, no_names
from tests.fakes.scripted_server import ScriptedServer


@cache
def program() -> Path:
    """Return the folder of the unpacked browser; install the browser if it is missing."""
    workspace = Workspace.from_environment(os.environ)
    return Store(workspace).ensure(chromium_tool(workspace))


def chromium(scratch: Path, *allowed: str, resolver: Resolver = no_names) -> ChromiumBrowser:
    """Return a browser that may connect to the given `host:port` pairs."""
    return ChromiumBrowser(
        folder=program(),
        scratch=scratch,
        policy=AddressPolicy(frozenset(allowed)),
        resolver=resolver,
        user_agent=USER_AGENT,
    )


def render(scratch: Path, server: ScriptedServer, path: str = "/", **request: Any) -> RenderedPage:
    """Render a page of the server."""
    defaults = {"url": parse_url(server.url(path)), "task": Dom(), "total_seconds": 20.0}
    return chromium(scratch, server.pair).render(RenderRequest(**(defaults | request)))


def processes_of(scratch: Path) -> list[str]:
    """Return the command lines of running processes that contain the folder's path."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:  # the process ended meanwhile
                continue
            if str(scratch).encode() in words:
                found.append(words.replace(b"\0", b" ").decode())
    return found
