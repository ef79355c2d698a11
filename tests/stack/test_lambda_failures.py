"""Failures of a function: response and log are as on AWS, and the next invocation can succeed."""

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.stack.lambda_probe import Answer, Laboratory, wait_for

pytestmark = pytest.mark.stack

RESPONSE_LIMIT = 6_291_556


@pytest.fixture(scope="module", autouse=True)
def slow_start(laboratory: Laboratory) -> Iterator[Future[Answer]]:
    """Start an invocation that takes over ten seconds; it runs during the other tests."""
    function = laboratory.function("slow_import.handler", timeout=2)
    with ThreadPoolExecutor(1) as callers:
        yield callers.submit(laboratory.invoke, function)


def test_a_function_that_outlives_its_timeout_is_killed_with_its_children(
    laboratory: Laboratory,
) -> None:
    function = laboratory.function("probe.sleep_with_child", timeout=1)
    started = time.monotonic()
    answer = laboratory.invoke(function)
    assert time.monotonic() - started < 10
    request_id = answer.request_id
    assert answer.error == "Unhandled"
    assert answer.payload == {
        "errorType": "Sandbox.Timedout",
        "errorMessage": f"RequestId: {request_id} Error: Task timed out after 1.00 seconds",
    }
    assert re.search(
        rf"Z {request_id} Task timed out after 1\.00 seconds$", answer.log, re.MULTILINE
    )
    assert 1000 <= answer.log_number("Duration") < 2000
    child = re.search(r"CHILD (\d+)", answer.log)
    assert child
    wait_for(lambda: not _runs(int(child[1])), "the function's child has ended")


def test_an_exception_is_answered_with_its_type_message_and_stack(laboratory: Laboratory) -> None:
    answer = laboratory.invoke(laboratory.function("probe.raise_value_error"))
    assert answer.error == "Unhandled"
    assert answer.payload["errorType"] == "ValueError"
    assert answer.payload["errorMessage"] == "no such thing"
    assert answer.payload["requestId"] == answer.request_id
    assert answer.payload["stackTrace"][0].startswith('  File "/var/task/probe.py", line ')
    assert "[ERROR] ValueError: no such thing" in answer.log


@pytest.mark.parametrize(
    ("handler", "error_type", "message"),
    [
        (
            "broken_import.handler",
            "Runtime.ImportModuleError",
            "Unable to import module 'broken_import': No module named 'module_that_does_not_exist'",
        ),
        ("raising_import.handler", "RuntimeError", "not configured"),
        (
            "probe.missing",
            "Runtime.HandlerNotFound",
            "Handler 'missing' missing on module 'probe'",
        ),
    ],
)
def test_a_failed_init_is_answered_and_tried_again(
    laboratory: Laboratory, handler: str, error_type: str, message: str
) -> None:
    function = laboratory.function(handler)
    for _ in range(2):
        answer = laboratory.invoke(function)
        assert answer.error == "Unhandled"
        assert answer.payload["errorType"] == error_type
        assert answer.payload["errorMessage"] == message
        assert message in answer.log
        assert f"Phase: init\tStatus: error\tError Type: {error_type}" in answer.log


@pytest.mark.parametrize(
    ("handler", "event", "reason"),
    [
        ("probe.exit_with", {"code": 0}, "Runtime exited without providing a reason"),
        ("probe.exit_with", {"code": 3}, "Runtime exited with error: exit status 3"),
        (
            "probe.exit_with",
            {"code": 4, "hard": True},
            "Runtime exited with error: exit status 4",
        ),
        ("probe.crash", {}, "Runtime exited with error: signal: segmentation fault"),
    ],
)
def test_a_process_that_ends_is_reported_and_the_next_start_is_cold(
    laboratory: Laboratory, handler: str, event: dict[str, Any], reason: str
) -> None:
    function = laboratory.function(handler)
    for _ in range(2):
        answer = laboratory.invoke(function, event)
        assert answer.error == "Unhandled"
        assert answer.payload == {
            "errorType": "Runtime.ExitError",
            "errorMessage": f"RequestId: {answer.request_id} Error: {reason}",
        }
        assert answer.log_number("Init Duration") > 0


def test_a_result_that_is_not_json_is_an_error(laboratory: Laboratory) -> None:
    answer = laboratory.invoke(laboratory.function("probe.return_object"))
    assert answer.error == "Unhandled"
    assert answer.payload["errorType"] == "Runtime.MarshalError"


def test_a_response_may_have_six_megabytes_and_no_more(laboratory: Laboratory) -> None:
    function = laboratory.function("probe.return_text")
    quotes = 2
    largest = laboratory.invoke(function, {"length": RESPONSE_LIMIT - quotes})
    assert largest.error is None
    assert len(largest.payload) == RESPONSE_LIMIT - quotes
    too_large = laboratory.invoke(function, {"length": RESPONSE_LIMIT - quotes + 1})
    assert too_large.error == "Unhandled"
    assert too_large.payload == {
        "errorType": "Function.ResponseSizeTooLarge",
        "errorMessage": f"Response payload size ({RESPONSE_LIMIT + 1} bytes) exceeded maximum"
        f" allowed payload size ({RESPONSE_LIMIT} bytes).",
    }


def test_an_init_of_more_than_ten_seconds_has_the_functions_time_out_then(
    slow_start: Future[Answer],
) -> None:
    answer = slow_start.result(timeout=30)
    assert answer.payload["errorType"] == "Sandbox.Timedout"
    assert answer.payload["errorMessage"].endswith("Task timed out after 2.00 seconds")
    assert "Phase: init\tStatus: timeout" in answer.log


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
