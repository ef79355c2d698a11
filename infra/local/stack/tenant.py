"""`tenant`: create, suspend, resume, export or delete a tenant of the instance."""

import argparse
from typing import Final

from stack.deployment import record
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import Workspace

_FUNCTION: Final = "Tenants"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the words of the operator's command, see spinneret.access.tenants."""
    parser.add_argument("words", nargs=argparse.REMAINDER, help="such as: suspend acme --reason …")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Carry out the command on the instance's own function; return its exit code."""
    # Imported here, because the package's AWS side takes most of the command's time to import.
    from spinneret.access.tenants import bootstrap as command  # noqa: PLC0415 - see above
    from stack import aws  # noqa: PLC0415

    _, request = command.request_of(arguments.words)
    instance = Instance.named(arguments.instance, workspace)
    name = record.current(instance).resources.get(_FUNCTION)
    if name is None:
        raise UsageError(f"the deployment has no function {_FUNCTION}")
    client = aws.client("lambda", record.endpoints(instance)["gateway"])
    return command.run(request, command.invoker(client, name))
