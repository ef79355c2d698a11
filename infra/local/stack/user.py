"""`user`: invite an administrator of a tenant of the instance."""

import argparse

from spinneret.kernel.errors import Conflict, TenantSuspended, ValidationFailed
from stack.deployment import record
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the tenant and the address of the administrator."""
    parser.add_argument("tenant", nargs="?", help="lower case letters, digits and hyphens")
    parser.add_argument("email", nargs="?", help="address of the administrator")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the invitation, which can't be retrieved again."""
    if arguments.email is None:
        raise UsageError(
            "name the tenant and its administrator: make user TENANT=acme EMAIL=maya@example.com"
        )
    instance = Instance.named(arguments.instance, workspace)
    workspace.progress.say(invite(instance, arguments.tenant, arguments.email))
    return 0


def invite(instance: Instance, tenant: str, email: str) -> str:
    """Return the invitation of a new administrator."""
    # Imported here, because the package's AWS side takes most of the command's time to import.
    from spinneret.access.users import bootstrap  # noqa: PLC0415 - see above
    from stack.aws import session  # noqa: PLC0415

    table = record.current(instance).outputs["TenancyTable"]
    gateway = record.endpoints(instance)["gateway"]
    # Takes and returns plain Python values, like the product's own client.
    client = session(gateway).resource("dynamodb").meta.client
    kms = session(gateway).client("kms")
    try:
        return bootstrap.invite(client, kms, table=table, stage="local", tenant=tenant, email=email)
    except (Conflict, TenantSuspended, ValidationFailed) as error:
        raise UsageError(f"{tenant}: {error.message}") from error
