"""`logs`: show the logs of the parts."""

import argparse
import subprocess
import time
from typing import Any, Final

from stack import aws
from stack.deployment import record
from stack.errors import UsageError
from stack.functions import require_function
from stack.instance import Instance
from stack.parts.catalogue import select
from stack.workspace import Workspace

_POLL_SECONDS: Final = 1.0


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--function", help="a function's log: its logical id in template.yaml")
    parser.add_argument("part", nargs="*", help="only these parts (default: all)")
    parser.add_argument("-f", "--follow", action="store_true", help="follow new lines")
    parser.add_argument("-n", "--lines", type=int, default=40, help="how many lines (default: 40)")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    instance = Instance.named(arguments.instance, workspace)
    if arguments.function:
        return _of_function(instance, arguments, workspace)
    logs = [instance.log(part.name) for part in select(workspace, arguments.part)]
    present = [str(log) for log in logs if log.exists()]
    if not present:
        raise UsageError(f"instance {instance.name} has no such log: was it started?")
    follow = ["--follow=name", "--retry"] if arguments.follow else []
    return subprocess.call(["tail", f"--lines={arguments.lines}", *follow, *present])


def _of_function(instance: Instance, arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the last lines of a function's log group; with --follow until interrupted."""
    require_function(arguments.function, workspace)
    name = record.current(instance).resources[arguments.function]
    client = aws.client("logs", record.endpoints(instance)["gateway"])
    group = f"/aws/lambda/{name}"
    lines, since = lines_since(client, group, 0)
    shown = lines[-arguments.lines :]
    while True:
        for line in shown:
            workspace.progress.say(line)
        if not arguments.follow:
            return 0
        time.sleep(_POLL_SECONDS)
        shown, since = lines_since(client, group, since)


def lines_since(client: Any, group: str, since: int) -> tuple[list[str], int]:
    """Return the lines since a time (Unix, in milliseconds), oldest first, and the next `since`."""
    pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=since)
    try:
        # LocalStack lists one stream after the other; each process of a function has its own.
        events = sorted(
            (event for page in pages for event in page["events"]),
            key=lambda event: event["timestamp"],
        )
    except client.exceptions.ResourceNotFoundException:  # the function hasn't logged yet
        return [], since
    latest = max((event["timestamp"] for event in events), default=since - 1)
    return [event["message"].rstrip() for event in events], latest + 1
