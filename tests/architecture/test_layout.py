"""Files where they belong, and imports within their budget."""

import subprocess
import sys

import pytest

from tests.architecture.conftest import ROOT
from tests.routes import AREAS

# Modules that an API function must not load at import: they cost cold-start time.
HEAVY = {
    "boto3.dynamodb.conditions",
    "lxml",
    "numpy",
    "pycld2",
    "spinneret.runtime.openapi.document",
    "trafilatura",
}


@pytest.mark.heavy
@pytest.mark.parametrize("area", AREAS)
def test_api_functions_do_not_load_what_only_workers_need(area: str) -> None:
    code = f"import sys, {area}.api; print('\\n'.join(sys.modules))"
    paths = f"{ROOT / 'functions'}:{ROOT / 'layers' / 'common'}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": paths, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not HEAVY & set(done.stdout.split())
