"""`make sam-local`: a function of every area in a container, for `make prove`.

If no container engine responds, the test starts Podman, and removes it afterwards. If neither is
possible, the reason of the skip says what is missing.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest

from containers import podman
from stack.containers import Engine
from stack.errors import UsageError
from stack.tools.python_tools import runtime_tool
from stack.tools.store import Store
from stack.tools.venv import site_packages
from stack.workspace import Workspace
from tests.conftest import ROOT
from tests.e2e.conftest import Deployed

SECONDS = 1200  # includes the download of an image of 600 MB


def _answers() -> bool:
    try:
        Engine().require()
    except UsageError:
        return False
    return True


def _missing() -> str:
    """Return the reason why no container can run here; empty if one can."""
    if not os.environ.get("SPINNERET_SAM_LOCAL"):
        return "only with SPINNERET_SAM_LOCAL=1, as it may download an image"
    if not _answers():
        try:
            podman.require()
        except UsageError as error:
            return f"no container engine answers, and {error}"
    return ""


MISSING = _missing()
pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(SECONDS + 600),
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


@pytest.fixture(scope="module", autouse=True)
def _engine() -> Iterator[None]:
    """Provide a container engine that responds where SAM looks for one."""
    if _answers():
        yield
        return
    workspace = Workspace.from_environment(os.environ)
    with podman.serving(site_packages(Store(workspace).ensure(runtime_tool(workspace)))):
        yield


@pytest.mark.parametrize(
    ("function", "event", "shown"),
    [
        ("Sweeper", "core/sweep", "leases_expired"),
        ("StreamsApi", "streams/stream", "AUTH_REQUIRED"),
        ("SigningKeys", "people/rotate_signing_keys", "created"),
        ("CrawlApi", "crawl/get", "AUTH_REQUIRED"),
        ("SearchApi", "search/query", "AUTH_REQUIRED"),
        ("AuditSchedules", "audits/schedules", "submitted"),
        ("Ticks", "watch/ticks", "ticks"),
        ("OrderPolling", "marketplace/poll_orders", "adjusted"),
    ],
)
def test_a_function_of_every_area_runs_in_a_container_against_the_instance(
    deployed: Deployed, function: str, event: str, shown: str
) -> None:
    file = str(ROOT / "events" / f"{event}.json")
    done = deployed.stack.command("sam-local", function, file, seconds=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-2])
    assert shown in json.dumps(answer)
