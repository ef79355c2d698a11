"""`make sam-local`: a function in a container, against the instance; run by `make prove`.

Where no engine answers, the reason of the skip says what is missing.
"""

import json
import os
from typing import Any

import pytest

from stack.containers import Engine
from stack.errors import UsageError
from tests.conftest import ROOT
from tests.e2e.conftest import Deployed

SECONDS = 1200  # with the download of an image of 600 MB


def _missing() -> str:
    """Why nothing can run in a container here; empty where it can."""
    if not os.environ.get("SPINNERET_SAM_LOCAL"):
        return "only with SPINNERET_SAM_LOCAL=1, as it may download an image"
    try:
        Engine().require()
    except UsageError as error:
        return str(error)
    return ""


MISSING = _missing()
pytestmark = [
    pytest.mark.stack,
    pytest.mark.timeout(SECONDS + 600),
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


def test_a_function_runs_in_a_container_against_the_instance(deployed: Deployed) -> None:
    event = str(ROOT / "events" / "core" / "sweep.json")
    done = deployed.stack.command("sam-local", "Sweeper", event, seconds=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-2])
    assert "leases_expired" in json.dumps(answer)
