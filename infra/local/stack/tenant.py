"""`tenant`: create, suspend, resume, export or delete a tenant of the instance."""

import argparse
from typing import Final

from stack.deployment import record
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import Workspace

_FUNCTION: Final = "Tenants"
_OPTIONS: Final = {
    "--reason": "of a suspension",
    "--continue": "id of an interrupted export",
    "--confirm": "of a deletion: the tenant's name once more",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the words of the operator's command, which spinneret.access.tenants checks."""
    parser.add_argument("verb", nargs="?", help="create, suspend, resume, export or delete")
    parser.add_argument("tenant", nargs="?", help="lower case letters, digits and hyphens")
    for option, meaning in _OPTIONS.items():
        parser.add_argument(option, dest=option, metavar="TEXT", help=meaning)


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Carry out the command on the instance's own function; return its exit code."""
    if arguments.tenant is None:
        raise UsageError('say what to do with which tenant: make tenant DO="create acme"')
    # Imported here, because the package's AWS side takes most of the command's time to import.
    from spinneret.access.tenants import bootstrap as command  # noqa: PLC0415 - see above
    from stack import aws  # noqa: PLC0415

    given = vars(arguments)
    options = [word for name in _OPTIONS if given[name] for word in (name, given[name])]
    _, request = command.request_of([arguments.verb, arguments.tenant, *options])
    instance = Instance.named(arguments.instance, workspace)
    name = record.current(instance).resources.get(_FUNCTION)
    if name is None:
        raise UsageError(f"the deployment has no function {_FUNCTION}")
    client = aws.client("lambda", record.endpoints(instance)["gateway"])
    return command.run(request, command.invoker(client, name))
