"""`run`: run a command with its own instance, which is removed when the command ends."""

import argparse
import os
import shutil
import subprocess
from typing import Final

from stack.down import take_down
from stack.errors import UsageError
from stack.instance import Instance, instance_lock
from stack.parts.catalogue import all_parts
from stack.port_claims import claim
from stack.up import bring_up
from stack.workspace import Workspace

INSTANCE_VARIABLE: Final = "SPINNERET_TEST_INSTANCE"
PORTS_VARIABLE: Final = "SPINNERET_TEST_PORTS"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="-- command",
        help=f"the command; {INSTANCE_VARIABLE} names its instance, and {PORTS_VARIABLE} the first "
        "port of a claimed block for servers of its own",
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Run the command and return its exit code. Raises StartError if the instance doesn't start.

    The instance is `<--instance>-<process id>`, on claimed ports.
    """
    words = [word for word in arguments.words if word != "--"]
    if not words:
        raise UsageError("run needs a command: run -- command")
    instance = Instance.named(f"{arguments.instance}-{os.getpid()}", workspace)
    try:
        with instance_lock(instance, workspace):
            instance.make_fleeting()
            bring_up(instance, all_parts(workspace), workspace, free_ports=True)
        with claim() as servers:
            given = {INSTANCE_VARIABLE: instance.name, PORTS_VARIABLE: str(servers.ports.start)}
            return subprocess.run(words, env={**os.environ, **given}, check=False).returncode
    finally:
        with instance_lock(instance, workspace):
            take_down(instance, workspace)
            shutil.rmtree(instance.folder, ignore_errors=True)
