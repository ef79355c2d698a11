"""`logs`: what the parts have written."""

from __future__ import annotations

import argparse
import subprocess

from stack.errors import UsageError
from stack.instance import Instance
from stack.parts.catalogue import select
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="*", help="only these parts (default: all)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines")
    parser.add_argument("-n", "--lines", type=int, default=40, help="how many lines (default: 40)")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    instance = Instance.named(arguments.instance, workspace)
    logs = [instance.log(part.name) for part in select(workspace, arguments.part)]
    present = [str(log) for log in logs if log.exists()]
    if not present:
        raise UsageError(f"instance {instance.name} has no such log: was it started?")
    follow = ["--follow=name", "--retry"] if arguments.follow else []
    return subprocess.call(["tail", f"--lines={arguments.lines}", *follow, *present])
