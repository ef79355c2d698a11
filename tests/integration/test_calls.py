"""Each flow makes exactly the calls in the committed table."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.calls import TABLE, differences

CALLS = Path(__file__).resolve().parents[2] / "benchmarks" / "calls.py"


@pytest.mark.timeout(300)  # two crawls and about 500 calls to moto
def test_each_flow_makes_the_calls_of_the_table() -> None:
    done = subprocess.run(
        [sys.executable, str(CALLS)], capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        ({"page": {"dynamodb.GetItem": 2.0}}, []),
        (
            {"page": {"dynamodb.GetItem": 3.0}},
            ["page, dynamodb.GetItem: 3.0 instead of 2.0"],
        ),
        (
            {"page": {"dynamodb.GetItem": 2.0, "s3.PutObject": 1.0}},
            ["page, s3.PutObject: 1.0 instead of 0"],
        ),
        ({}, ["page, dynamodb.GetItem: 0 instead of 2.0"]),
        (
            {"page": {"dynamodb.GetItem": 2.0}, "job": {"write units": 1.0}},
            ["job, write units: 1.0 instead of 0"],
        ),
        ({"page": {"dynamodb.GetItem": 2.0, "read units": 0.4}}, []),
    ],
)
def test_any_other_amount_is_a_difference(
    found: dict[str, dict[str, float]], lines: list[str]
) -> None:
    assert differences({"page": {"dynamodb.GetItem": 2.0}}, found) == lines


def test_the_table_has_every_flow() -> None:
    assert set(json.loads(TABLE.read_text())) == {
        "page in a batch",
        "page in a deep crawl",
        "job that does nothing",
        "search, new query",
        "search, answer cached",
        "check of a target",
        "request, first of a process",
        "request, first of its second",
        "request, later in its second",
    }
