"""Handlers that show how Lambda functions run; they use the standard library and boto3 only."""

# ruff: noqa: T201  # what a function prints is its log

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

Event = dict[str, Any]

calls: list[str] = []


def describe(event: Event, context: Any) -> Event:
    """Return the function's view of its environment."""
    calls.append(context.aws_request_id)
    return {
        "variables": dict(os.environ),
        "search_path": sys.path,
        "folder": str(Path.cwd()),
        "pid": os.getpid(),
        "calls": len(calls),
        "filesystem_encoding": sys.getfilesystemencoding(),
        "request_id": context.aws_request_id,
        "arn": context.invoked_function_arn,
        "remaining_ms": context.get_remaining_time_in_millis(),
    }


def import_layers(event: Event, context: Any) -> Event:
    """Return the origin of each named module."""
    return {name: __import__(name).ORIGIN for name in event["modules"]}


def sleep(event: Event, context: Any) -> Event:
    """Sleep for the event's seconds; a record of a queue has the seconds as its body."""
    seconds = event.get("seconds") or sum(float(record["body"]) for record in event["Records"])
    started = time.time()
    time.sleep(seconds)
    print(f"SLEPT {started} {time.time()}")
    return {"pid": os.getpid()}


def sleep_with_child(event: Event, context: Any) -> None:
    """Start a process, print its id, and run longer than the function's time-out."""
    child = subprocess.Popen(["sleep", "60"])
    print(f"CHILD {child.pid}")
    time.sleep(60)


def raise_value_error(event: Event, context: Any) -> None:
    raise ValueError("no such thing")


def exit_with(event: Event, context: Any) -> None:
    if event.get("hard"):
        os._exit(event["code"])
    sys.exit(event["code"])


def crash(event: Event, context: Any) -> None:
    os.kill(os.getpid(), 11)


def return_object(event: Event, context: Any) -> object:
    return object()


def return_text(event: Event, context: Any) -> str:
    return "x" * int(event["length"])


def return_token(event: Event, context: Any) -> None:
    """Complete its Step Functions task, and run for another second."""
    import boto3  # noqa: PLC0415  # the other handlers start faster without it

    boto3.client("stepfunctions").send_task_success(taskToken=event["token"], output="{}")
    time.sleep(1)


def note_arrival(event: Event, context: Any) -> None:
    for record in event["Records"]:
        print(f"LATENCY {time.time() - float(record['body']):.3f}")
