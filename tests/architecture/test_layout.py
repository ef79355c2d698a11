"""Files where they belong, and imports within their budget."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.architecture.conftest import ROOT

PACKAGE = ROOT / "layers" / "common" / "spinneret"
INNER = ("models.py", "rules.py", "service.py", "ports.py")
# Modules that an API function must not load at import: they cost cold-start time.
HEAVY = {
    "boto3.dynamodb.conditions",
    "lxml",
    "numpy",
    "spinneret.runtime.openapi",
    "trafilatura",
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_only_adapters_know_aws_http_and_opensearch(path: object) -> None:
    if path.name not in INNER:  # type: ignore[attr-defined]  # a Path
        return
    text = path.read_text()  # type: ignore[attr-defined]  # a Path
    assert not re.search(
        r"^\s*(import|from) (boto3|botocore|httpx|opensearchpy|aws_lambda_powertools)",
        text,
        re.MULTILINE,
    )


@pytest.mark.parametrize("area", ["core", "crawl", "search"])
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
