"""`key`: issue a key for a tenant of the instance: its first one, or a way back in."""

from __future__ import annotations

import argparse
import os
from typing import Final

from spinneret.kernel import limits
from spinneret.kernel.errors import ValidationFailed
from spinneret.tenancy.models import Scope
from stack.deployment import record
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import ACCOUNT, REGION, Workspace

# By hand and in tests one polls: ten times what a tenant's own keys get unless told.
REQUESTS_PER_MINUTE: Final = 600


def configure(parser: argparse.ArgumentParser) -> None:
    """Whose key, and what it may do."""
    parser.add_argument("tenant", help="lower case letters, digits and hyphens")
    parser.add_argument(
        "--scope",
        choices=[*Scope],
        default=Scope.ADMIN,
        type=Scope,
        help="default: admin, which issues further keys through the API",
    )
    parser.add_argument(
        "--requests-per-minute",
        default=REQUESTS_PER_MINUTE,
        type=_rate,
        metavar="N",
        help=f"1 to {limits.KEY_REQUESTS_PER_MINUTE_MAX} (default: {REQUESTS_PER_MINUTE})",
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the secret: it can't be had again."""
    instance = Instance.named(arguments.instance, workspace)
    secret = issue(instance, arguments.tenant, arguments.scope, arguments.requests_per_minute)
    workspace.progress.say(secret)
    return 0


def issue(
    instance: Instance,
    tenant: str,
    scope: Scope,
    requests_per_minute: int = limits.KEY_REQUESTS_PER_MINUTE_MAX,
) -> str:
    """A new key's secret; at the highest rate unless told, as programs poll."""
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
    try:
        _, secret = service.issue(
            tenant,
            "issued on the command line",
            frozenset({scope}),
            requests_per_minute=requests_per_minute,
        )
    except ValidationFailed as error:
        raise UsageError(f"{tenant}: {error.message}") from error
    return secret


def _rate(text: str) -> int:
    rate = int(text)
    if not 1 <= rate <= limits.KEY_REQUESTS_PER_MINUTE_MAX:
        raise argparse.ArgumentTypeError(
            f"{rate} isn't in 1 to {limits.KEY_REQUESTS_PER_MINUTE_MAX}"
        )
    return rate
