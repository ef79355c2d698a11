"""Command line that issues a tenant's first key, or a new one after all keys were lost.

    python -m spinneret.access.keys.bootstrap --table TENANCY_TABLE TENANT

Uses the AWS credentials and the region of the environment. Only the secret goes to standard output,
once; everything else goes to standard error. Exit codes: 0; 2 for a wrong command line; 1 if
the tenant is suspended, or DynamoDB can't be reached.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from spinneret.access import limits
from spinneret.access.keys.api_models import KeyRequest
from spinneret.access.keys.models import Scope
from spinneret.access.wiring import keys_in
from spinneret.aws.clients import dynamodb_client
from spinneret.aws.types import DynamoDBClient
from spinneret.kernel import bounds
from spinneret.kernel.errors import DependencyUnavailable, TenantSuspended, ValidationFailed
from spinneret.kernel.field_messages import message_of

NAME: Final = "issued on the command line"
_OPTIONS: Final[Mapping[Any, str]] = {
    "name": "--name",
    "expires_at": "--expires",
    "rate_limit_rpm": "--requests-per-minute",
}


def issue(client: DynamoDBClient, table: str, tenant: str, request: KeyRequest) -> str:
    """Issue a key without a tenant's bounds; return its secret.

    Raises ValidationFailed, TenantSuspended and DependencyUnavailable.
    """
    _, secret = keys_in(client, table).issue(
        tenant,
        request.name,
        request.scopes,
        request.expires_at,
        rate_limit_rpm=request.rate_limit_rpm,
    )
    return secret


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code. Raise SystemExit(2) for wrong arguments."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        request = KeyRequest(
            name=given.name,
            scopes=frozenset(given.scopes or [Scope.ADMIN]),
            expires_at=given.expires,
            rate_limit_rpm=given.requests_per_minute,
        )
        secret = issue(dynamodb_client(), given.table, given.tenant, request)
    except ValidationError as error:
        parser.error(
            "; ".join(f"{_OPTIONS[each['loc'][0]]} {message_of(each)}" for each in error.errors())
        )
    except ValidationFailed as error:
        parser.error(error.message)
    except DependencyUnavailable as error:
        return _failed(f"{error.message}: {error.__cause__}")
    except TenantSuspended as error:
        return _failed(error.message)
    except (BotoCoreError, ClientError) as error:
        return _failed(str(error))
    sys.stdout.write(f"{secret}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m spinneret.access.keys.bootstrap",
        description="Issue an API key and print its secret, which can't be retrieved again.",
    )
    parser.add_argument("tenant", help="lower case letters, digits and hyphens")
    parser.add_argument("--table", required=True, help="the stack's output TenancyTable")
    parser.add_argument(
        "--scope",
        action="append",
        dest="scopes",
        choices=[*Scope],
        type=Scope,
        help="may be repeated (default: admin, which issues further keys through the API)",
    )
    parser.add_argument("--name", default=NAME, help=f'default: "{NAME}"')
    parser.add_argument(
        "--expires",
        metavar="MOMENT",
        help="RFC 3339 with its offset, as 2027-01-01T00:00:00Z (default: never)",
    )
    parser.add_argument(
        "--requests-per-minute",
        type=int,
        default=limits.KEY_REQUESTS_PER_MINUTE,
        metavar="N",
        help=f"1 to {bounds.KEY_REQUESTS_PER_MINUTE_MAX} "
        f"(default: {limits.KEY_REQUESTS_PER_MINUTE})",
    )
    return parser


def _failed(reason: str) -> int:
    sys.stderr.write(f"no key was issued: {reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
