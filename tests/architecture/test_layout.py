"""API functions import no heavy modules, and services declare their fields."""

import ast
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


# One process per area; all inherit from their parent the modules that every API function loads.
LOADED = """
import os, sys
import spinneret.runtime.http.entrypoint
for area in sys.argv[1:]:
    if not os.fork():
        __import__(f"{area}.api")
        print(area, *sys.modules, flush=True)
        os._exit(0)
    if os.wait()[1]:
        sys.exit(f"{area}.api can't be imported")
"""


@pytest.fixture(scope="module")
def loaded() -> dict[str, set[str]]:
    """Provide the modules that each area's API function loads."""
    paths = f"{ROOT / 'functions'}:{ROOT / 'layers' / 'common'}"
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *AREAS],
        env={"PYTHONPATH": paths, "PATH": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    areas = (line.split() for line in done.stdout.splitlines())
    return {area: set(modules) for area, *modules in areas}


@pytest.mark.heavy
@pytest.mark.parametrize("area", AREAS)
def test_api_functions_do_not_load_what_only_workers_need(
    area: str, loaded: dict[str, set[str]]
) -> None:
    assert f"{area}.api" in loaded[area]
    assert not HEAVY & loaded[area]


def test_services_are_declared_by_their_fields() -> None:
    files = sorted((ROOT / "layers" / "common" / "spinneret").rglob("service.py"))
    classes = [
        (file, each)
        for file in files
        for each in ast.walk(ast.parse(file.read_text()))
        if isinstance(each, ast.ClassDef)
    ]
    own = [
        f"{file.relative_to(ROOT)}: {each.name}"
        for file, each in classes
        if any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in each.body)
    ]
    assert len(classes) > 50
    assert not own, "use @service of kernel/service.py"
