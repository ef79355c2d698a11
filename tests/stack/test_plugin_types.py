"""Types of LocalStack's plug-in, which need LocalStack's own environment to be checked."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT, Stack

PLUGIN = ROOT / "infra" / "local" / "localstack_plugin"


@pytest.mark.timeout(300)
def test_the_plug_in_has_no_type_errors(stack: Stack) -> None:
    words = [
        *(sys.executable, "-m", "mypy", "--config-file", str(PLUGIN / "pyproject.toml")),
        *("--python-executable", str(stack.localstack_python)),
        *(
            "--cache-dir",
            str(ROOT / ".local" / "mypy-plugin"),
            str(PLUGIN / "spinneret_localstack"),
        ),
    ]
    done = subprocess.run(words, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stdout
