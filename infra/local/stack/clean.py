"""`clean`: stop the instance and delete its data; with --all remove everything installed."""

import argparse
import shutil

from stack.deployment import durable
from stack.down import take_down
from stack.errors import UsageError
from stack.instance import Instance, all_instances, instance_lock
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--all", action="store_true", help="also remove all stopped instances and all tools"
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    instance = Instance.named(arguments.instance, workspace)
    if arguments.all:
        _refuse_others(instance, workspace)
    with instance_lock(instance, workspace):
        take_down(instance, workspace)
        if (held := durable.summary(instance)) is not None:
            workspace.progress.say(f"deleting {held}")
        shutil.rmtree(instance.folder, ignore_errors=True)
        if arguments.all:
            for folder in (workspace.instances, workspace.tools, workspace.install_logs):
                shutil.rmtree(folder, ignore_errors=True)
    return 0


def _refuse_others(instance: Instance, workspace: Workspace) -> None:
    """Raise UsageError if another instance runs, since it needs the tools."""
    for other in all_instances(workspace):
        record = other.read()
        if other != instance and record is not None and record.alive():
            raise UsageError(
                f"instance {other.name} runs: stop it first (down --instance {other.name})"
            )
