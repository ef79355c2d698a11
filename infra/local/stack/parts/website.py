"""The demonstration's website, and its marketplaces: what a first crawl, audit or listing reaches.

The servers are the tests' own; see `tests/site/demonstration.py`.
"""

import os
import sys
from typing import Final

import httpx

from stack.errors import ProbeError
from stack.parts.part import Part, Site, minimal_environment, probing, require_listener
from stack.process import Spawn
from stack.workspace import Workspace

NAME: Final = "website"
BOOT_SECONDS: Final = 60.0
PROBE_SECONDS: Final = 10.0


def website(workspace: Workspace) -> Part:
    def spawn(site: Site) -> Spawn:
        home = site.data(NAME)
        home.mkdir(parents=True, exist_ok=True)
        ports = (str(site.ports.website), str(site.ports.markets))
        words = (sys.executable, "-m", "tests.site.demonstration", *ports)
        sources = {
            "PYTHONPATH": os.pathsep.join(
                str(folder) for folder in (workspace.root, workspace.root / "layers" / "common")
            ),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return Spawn(words, minimal_environment(home, sources), home)

    return Part(
        name=NAME,
        title="the demonstration's website",
        port="website",
        inner_ports=("markets",),
        tools=(),
        spawn=spawn,
        probe=probe,
        boot_seconds=BOOT_SECONDS,
    )


def probe(url: str) -> None:
    """Request the first page. The marketplaces listen before it."""
    require_listener(url)
    with probing(httpx.HTTPError):
        answer = httpx.get(url, timeout=PROBE_SECONDS, trust_env=False)
    if answer.status_code != 200:
        raise ProbeError(f"the website answered {answer.status_code}")
