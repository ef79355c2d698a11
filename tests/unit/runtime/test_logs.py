"""Each log record is one JSON line without secrets."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from spinneret.runtime.logs import RedactingFormatter

LIBRARY = Path(__file__).resolve().parents[3] / "layers" / "common"
SECRET = "hunter2-" + "x1y2z3"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RedactingFormatter())
    logger = logging.getLogger("spinneret.tests.logs")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def logged(lines: io.StringIO) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(lines.getvalue())
    return record


# covers P-11
def test_fields_and_messages_are_redacted(lines: io.StringIO) -> None:
    logger = logging.getLogger("spinneret.tests.logs")
    logger.warning("token=%s", SECRET, extra={"job_id": "job_1", "headers": {"X-Api-Key": SECRET}})
    assert SECRET not in lines.getvalue()
    record = logged(lines)
    assert (record["job_id"], record["level"]) == ("job_1", "WARNING")
    assert datetime.fromisoformat(record["timestamp"]).tzinfo is not None  # Lambda requires this


def test_an_exception_is_redacted_with_its_cause(lines: io.StringIO) -> None:
    logger = logging.getLogger("spinneret.tests.logs")
    try:
        try:
            raise ValueError(f"postgres://admin:{SECRET}@db.example/main")
        except ValueError as error:
            raise RuntimeError(f"password: {SECRET}") from error
    except RuntimeError:
        logger.exception("job_failed")
    assert SECRET not in lines.getvalue()
    assert logged(lines)["exception_name"] == "RuntimeError"


def test_what_a_library_logs_is_one_redacted_line_of_json() -> None:
    code = f"""
import logging
from spinneret.runtime.logs import configure
configure("crawl-worker").info("ready")
try:
    raise OSError("https://user:{SECRET}@files.example/")
except OSError:
    logging.getLogger("a.library").exception("token={SECRET}")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(LIBRARY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    records = [json.loads(line) for line in (done.stdout + done.stderr).splitlines()]
    assert [record["message"] for record in records][:1] == ["ready"]
    assert [record["level"] for record in records] == ["INFO", "ERROR"]
    assert records[1]["exception_name"] == "OSError"
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("env", "written"),
    [
        ({}, ["info", "warning", "metrics"]),
        ({"LOG_LEVEL": "DEBUG"}, ["debug", "info", "warning", "metrics"]),
        ({"LOG_LEVEL": "WARNING"}, ["warning", "metrics"]),
        ({"LOG_LEVEL": "CRITICAL"}, ["metrics"]),
    ],
)
def test_the_stage_s_level_drops_lower_lines_but_no_metrics(
    env: dict[str, str], written: list[str]
) -> None:
    code = """
import logging
from spinneret.kernel.metrics import SEARCHES
from spinneret.runtime.logs import configure
from spinneret.runtime.metrics import write
configure("crawl-worker")
SEARCHES.add()
logger = logging.getLogger("spinneret.crawl")
logger.debug("debug")
logger.info("info")
logger.warning("warning")
write("crawl-worker")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(LIBRARY), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line.get("message", "metrics") for line in lines] == written
