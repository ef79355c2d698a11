"""`down`: stop all processes of the instance."""

import argparse
import time

from stack.instance import Instance, instance_lock
from stack.lifecycle import end
from stack.parts.catalogue import all_parts
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    instance = Instance.named(arguments.instance, workspace)
    with instance_lock(instance, workspace):
        take_down(instance, workspace)
    return 0


def take_down(instance: Instance, workspace: Workspace) -> None:
    begin = time.monotonic()
    record = instance.read()
    running = end(instance, record, [part.name for part in all_parts(workspace)])
    if record is not None:
        instance.write(record.without(record.parts))
    instance.endpoints_file.unlink(missing_ok=True)
    seconds = time.monotonic() - begin
    data = "its data stay" if instance.is_durable else "its data are gone"
    text = f"is stopped, and {data} ({seconds:.1f} s)" if running else "does not run"
    workspace.progress.say(f"instance {instance.name} {text}")
