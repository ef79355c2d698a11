"""Files where they belong, and imports within their budget."""

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
