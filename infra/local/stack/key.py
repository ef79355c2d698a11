"""`key`: issue an API key for a tenant of the instance, as its first or a recovery key."""

import argparse
from collections.abc import Mapping
from typing import Final

from spinneret.access import limits
from spinneret.access.keys.models import Scope
from spinneret.kernel import bounds
from spinneret.kernel.errors import TenantSuspended, ValidationFailed
from stack.deployment import record, settings
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import Workspace

_RATE_SETTING: Final = "RateLimitApiRpm"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the tenant and the permissions of the key."""
    parser.add_argument("tenant", nargs="?", help="lower case letters, digits and hyphens")
    parser.add_argument(
        "--scope",
        choices=[*Scope],
        default=Scope.ADMIN,
        type=Scope,
        help="default: admin, which issues further keys through the API",
    )
    parser.add_argument(
        "--requests-per-minute",
        type=_rate,
        metavar="N",
        help=f"1 to {bounds.KEY_REQUESTS_PER_MINUTE_MAX} "
        f"(default: {_RATE_SETTING}, as for keys of the API)",
    )


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the secret, which can't be retrieved again."""
    if arguments.tenant is None:
        raise UsageError("name the tenant that gets the key: make key TENANT=acme")
    instance = Instance.named(arguments.instance, workspace)
    rate = arguments.requests_per_minute or default_rate(settings.kept(instance))
    secret = issue(instance, arguments.tenant, arguments.scope, rate)
    workspace.progress.say(secret)
    return 0


def default_rate(chosen: Mapping[str, str]) -> int:
    """Return the requests per minute of the API's keys, of the settings or by default."""
    return int(chosen.get(_RATE_SETTING) or limits.KEY_REQUESTS_PER_MINUTE)


def issue(
    instance: Instance,
    tenant: str,
    scope: Scope,
    requests_per_minute: int = bounds.KEY_REQUESTS_PER_MINUTE_MAX,
) -> str:
    """Return a new key's secret; by default with the highest rate, because programs poll."""
    # Imported here, because the package's AWS side takes most of the command's time to import.
    from spinneret.access.keys import bootstrap  # noqa: PLC0415 - see above
    from spinneret.access.keys.api_models import KeyRequest  # noqa: PLC0415
    from stack.aws import session  # noqa: PLC0415

    table = record.current(instance).outputs["TenancyTable"]
    # Takes and returns plain Python values, like the product's own client.
    gateway = record.endpoints(instance)["gateway"]
    client = session(gateway).resource("dynamodb").meta.client
    request = KeyRequest(
        name=bootstrap.NAME,
        scopes=frozenset({scope}),
        rate_limit_rpm=requests_per_minute,
    )
    try:
        return bootstrap.issue(client, table, tenant, request)
    except (TenantSuspended, ValidationFailed) as error:
        raise UsageError(f"{tenant}: {error.message}") from error


def _rate(text: str) -> int:
    rate = int(text)
    if not 1 <= rate <= bounds.KEY_REQUESTS_PER_MINUTE_MAX:
        raise argparse.ArgumentTypeError(
            f"{rate} isn't in 1 to {bounds.KEY_REQUESTS_PER_MINUTE_MAX}"
        )
    return rate
