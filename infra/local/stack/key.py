"""`key`: issue an API key for a tenant of the instance."""

from __future__ import annotations

import argparse
import os

from spinneret.tenancy.models import Scope
from stack.deployment import record
from stack.instance import Instance
from stack.workspace import ACCOUNT, REGION, Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Whose key."""
    parser.add_argument("tenant", help="lower case letters, digits and hyphens")
    parser.add_argument("--scope", choices=[*Scope], default=Scope.WRITE, type=Scope)


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the secret: it can't be had again."""
    instance = Instance.named(arguments.instance, workspace)
    say = workspace.progress.say
    say(issue(instance, arguments.tenant, arguments.scope))
    return 0


def issue(instance: Instance, tenant: str, scope: Scope) -> str:
    """A new key's secret."""
    # Only here: the package's AWS side takes most of the command's time to import.
    from spinneret.tenancy.wiring import TenancySettings, key_service  # noqa: PLC0415 - see above

    deployment = record.current(instance)
    os.environ.update(
        AWS_ENDPOINT_URL=record.endpoints(instance)["gateway"],
        AWS_DEFAULT_REGION=REGION,
        AWS_ACCESS_KEY_ID=ACCOUNT,
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106 - the emulator asks for any
    )
    service = key_service(TenancySettings(tenancy_table=deployment.outputs["TenancyTable"]))
    _, secret = service.issue(tenant, "issued on the command line", frozenset({scope}))
    return secret
