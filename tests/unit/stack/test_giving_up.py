"""A test run whose instance can't start ends at once, with the reason."""

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.sampling import sampled

SUITE = ["tests/stack/test_embedder.py", "tests/contract/test_job_lists.py"]


@pytest.mark.parametrize("processes", sampled([["-n", "2"], []], quick=0, tested=1))
def test_a_run_without_an_instance_ends_with_one_reason(processes: list[str]) -> None:
    refused = {"SPINNERET_GATEWAY_PORT": "none"}
    given = {name: value for name, value in os.environ.items() if not name.startswith("SPINNERET_")}
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-m",
            "stack",
            "-p",
            "no:cacheprovider",
            *processes,
            *SUITE,
        ],
        cwd=ROOT,
        env={**given, **refused},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    output = done.stdout + done.stderr
    assert done.returncode not in {0, 1}, output  # not the exit code of a run with failed tests
    assert "SPINNERET_GATEWAY_PORT=none is not a port" in output
    assert " error" not in output.splitlines()[-1], output
    assert " passed" not in output


@pytest.mark.heavy
def test_a_command_without_an_instance_does_not_run() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stack", "run", "--", "touch", "never-made"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "infra/local", "SPINNERET_GATEWAY_PORT": "none"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: SPINNERET_GATEWAY_PORT=none is not a port: give a number from 1 to 65535"
    ]
    assert not (ROOT / "never-made").exists()
