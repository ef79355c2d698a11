"""Command line that invites a tenant's administrator, as the first or after a lock-out.

    python -m spinneret.access.users.bootstrap --table TENANCY_TABLE --stage STAGE TENANT EMAIL

It also creates the stage's first signing key. Uses the AWS credentials and the region of the
environment. Only the invitation goes to standard output, once. Exit codes: 0; 2 for a wrong command
line; 1 if the address is taken, or AWS can't be reached.
"""

import argparse
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from spinneret.access.permissions import ALL, Role
from spinneret.access.wiring import rotation_in, user_service
from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import kms_client
from spinneret.aws.types import DynamoDBClient, KMSClient
from spinneret.kernel.errors import DomainError, ValidationFailed


def invite(
    client: DynamoDBClient, kms: KMSClient, *, table: str, stage: str, tenant: str, email: str
) -> str:
    """Invite an administrator; return the invitation.

    Raises ValidationFailed, Conflict and DependencyUnavailable.
    """
    rotation_in(client, table, kms, stage).run()
    return user_service(client, table).invite(tenant, email, email, Role.ADMIN, ALL)[1]


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code. Raise SystemExit(2) for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m spinneret.access.users.bootstrap",
        description="Invite an administrator; print the invitation, which is valid for 72 hours.",
    )
    parser.add_argument("tenant", help="lower case letters, digits and hyphens")
    parser.add_argument("email", help="address of the administrator")
    parser.add_argument("--table", required=True, help="the stack's output TenancyTable")
    parser.add_argument("--stage", required=True, help="the stack's parameter Stage")
    given = parser.parse_args(arguments)
    try:
        invitation = invite(
            dynamodb_client(),
            kms_client(),
            table=given.table,
            stage=given.stage,
            tenant=given.tenant,
            email=given.email,
        )
    except ValidationFailed as error:
        parser.error(error.message)
    except (DomainError, BotoCoreError, ClientError) as error:
        sys.stderr.write(f"nobody was invited: {error}\n")
        return 1
    sys.stdout.write(f"{invitation}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
