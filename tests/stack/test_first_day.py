"""A newcomer's first day with the local stack, with the documented commands only."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from stack.port_claims import claim
from tests.conftest import ROOT, instance_folder
from tests.site.server import serve

pytestmark = [pytest.mark.stack, pytest.mark.proof, pytest.mark.timeout(3_600)]

NAME = "first-day"
COMMAND_SECONDS = 1_200
PAGE = "orb-webs"
QUERY = "sticky capture spiral"
TITLE = "Orb Webs: How a Spider Builds a Wheel of Silk"


@dataclass
class Shell:
    """A terminal in the project's folder, and the variables exported in it."""

    exported: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command, and return the result with its output."""
        return subprocess.run(
            words,
            cwd=ROOT,
            env={**os.environ, **self.exported},
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )

    def ok(self, *words: str) -> str:
        """Run a command, check that it succeeds, and return its output."""
        done = self.run(*words)
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout

    def make(self, *words: str) -> str:
        """Run `make` for the instance."""
        return self.ok("make", "--silent", f"INSTANCE={NAME}", *words)

    def spinneret(self, *words: str) -> str:
        """Run the command line client with the exported address and key."""
        return self.ok(".venv/bin/spinneret", *words)


@pytest.fixture
def shell() -> Iterator[Shell]:
    """Provide a terminal before the first command: the instance doesn't exist."""
    made = Shell()
    made.make("clean")
    yield made
    made.make("clean")


@pytest.fixture
def own_site() -> Iterator[str]:
    """Provide a website on the newcomer's machine that isn't part of the stack."""
    with claim() as ports, serve(ports.ports[0]) as url:
        yield url


def test_the_first_day(shell: Shell, own_site: str) -> None:
    shown = shell.make("demo")
    shell.exported["SPINNERET_URL"] = api = _exported("API", shown)
    shell.exported["SPINNERET_API_KEY"] = _exported("KEY", shown)
    assert TITLE in shell.spinneret("search", QUERY)

    # A crawl of the site's private address is refused; the message has the command that allows it.
    page = f"{own_site}{PAGE}"
    refused = shell.run(".venv/bin/spinneret", "crawl", page, "--wait")
    assert refused.returncode == 1
    [advice] = re.findall(r"make (set) (FetchAllowed=\S+)", refused.stderr)
    shell.make(*advice)
    crawled = f"completed  {page}\n"
    assert shell.spinneret("crawl", page, "--wait") == crawled

    # Another tenant, with its own key, sees only its own pages.
    shell.exported["SPINNERET_API_KEY"] = shell.make("key", "TENANT=weaver").strip()
    assert shell.spinneret("search", QUERY) == ""
    assert shell.spinneret("crawl", page, "--wait") == crawled
    found = shell.spinneret("search", QUERY)
    assert page in found

    shell.make("down")
    assert shell.run(".venv/bin/spinneret", "search", QUERY).returncode == 1
    assert api in shell.make("up")
    assert shell.spinneret("search", QUERY) == found

    # A time-out is a property of functions and queues, so the stack must be created again.
    assert "removed the former stack; its data stay" in shell.make("set", "CrawlTimeout=60")
    assert shell.spinneret("search", QUERY) == found
    assert shell.spinneret("crawl", f"{own_site}ballooning", "--wait").startswith("completed")
    status = shell.make("status")
    assert f"API:       {api}" in status
    assert "CrawlTimeout=60" in status

    assert "deleting" in shell.make("clean")
    assert not instance_folder(NAME).exists()


def _exported(name: str, text: str) -> str:
    """Return the value that the demonstration's output tells the user to export."""
    [value] = re.findall(rf"^ *export .*\b{name}=(\S+)", text, re.MULTILINE)
    return str(value)
