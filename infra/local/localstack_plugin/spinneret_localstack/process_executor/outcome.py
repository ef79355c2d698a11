"""Answers and log lines that Lambda itself produces, with AWS's wording."""

import json
import math
import signal
from dataclasses import dataclass
from datetime import datetime

# https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
INIT_TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Outcome:
    """Result of an invocation.

    `log` holds lines that Lambda adds to the function's own; `status` is the end of the REPORT
    line.
    """

    body: bytes
    is_error: bool = False
    log: str = ""
    status: str = ""


def succeeded(body: bytes, limit: int) -> Outcome:
    """Return the response, or an error if it exceeds `limit` bytes."""
    if len(body) <= limit:
        return Outcome(body)
    message = (
        f"Response payload size ({len(body)} bytes) exceeded maximum allowed payload size"
        f" ({limit} bytes)."
    )
    return _failed("Function.ResponseSizeTooLarge", message)


def raised(body: bytes) -> Outcome:
    """Return the error of a handler; `body` is the runtime's report of its exception."""
    return Outcome(body, is_error=True)


def init_raised(body: bytes) -> Outcome:
    """Return the error of an init; `body` is the runtime's report of its exception."""
    return Outcome(body, is_error=True, status=_error_status(json.loads(body)["errorType"]))


def timed_out(request_id: str, seconds: float, now: datetime) -> Outcome:
    message = f"Task timed out after {seconds:.2f} seconds"
    time = now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{now.microsecond // 1000:03d}Z"
    return _failed(
        "Sandbox.Timedout",
        f"RequestId: {request_id} Error: {message}",
        log=f"{time} {request_id} {message}\n\n",
        status="\tStatus: timeout",
    )


def exited(request_id: str, exit_code: int) -> Outcome:
    """Return the error of a process that ended; a negative `exit_code` is a signal (subprocess)."""
    if exit_code == 0:
        message = "Runtime exited without providing a reason"
    elif exit_code > 0:
        message = f"Runtime exited with error: exit status {exit_code}"
    else:
        name = signal.strsignal(-exit_code) or str(-exit_code)
        message = f"Runtime exited with error: signal: {name.lower()}"
    text = f"RequestId: {request_id} Error: {message}"
    error_type = "Runtime.ExitError"
    return _failed(
        error_type, text, log=f"{text}\n{error_type}\n", status=_error_status(error_type)
    )


def init_report(milliseconds: float, outcome: Outcome) -> str:
    """Return the log line of a failed init phase."""
    return f"INIT_REPORT Init Duration: {milliseconds:.2f} ms\tPhase: init{outcome.status}\n"


def report(
    request_id: str,
    duration_ms: float,
    memory_size_mb: int,
    peak_memory_mb: int,
    init_ms: float | None,
    outcome: Outcome,
) -> str:
    """Return the log line that ends an invocation; `init_ms` is None for a warm process."""
    line = (
        f"REPORT RequestId: {request_id}\tDuration: {duration_ms:.2f} ms"
        f"\tBilled Duration: {math.ceil(duration_ms)} ms\tMemory Size: {memory_size_mb} MB"
        f"\tMax Memory Used: {peak_memory_mb} MB"
    )
    if init_ms is not None:
        line += f"\tInit Duration: {init_ms:.2f} ms"
    return f"{line}{outcome.status}\t\n"


def _failed(error_type: str, message: str, log: str = "", status: str = "") -> Outcome:
    body = json.dumps({"errorType": error_type, "errorMessage": message}).encode()
    return Outcome(body, is_error=True, log=log, status=status)


def _error_status(error_type: str) -> str:
    return f"\tStatus: error\tError Type: {error_type}"
