"""Command line that rotates the key that signs access tokens within its 90 days.

    python -m spinneret.access.tokens.bootstrap --table TENANCY_TABLE --stage STAGE

The new key signs five minutes later, when all functions know it. Uses the AWS credentials and the
region of the environment. Exit codes: 0; 2 for a wrong command line; 1 if AWS can't be reached.
"""

import argparse
import sys
from collections.abc import Sequence

from botocore.exceptions import BotoCoreError, ClientError

from spinneret.access.wiring import rotation_in
from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import kms_client
from spinneret.kernel.errors import DependencyUnavailable


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return its exit code. Raise SystemExit(2) for wrong arguments."""
    parser = argparse.ArgumentParser(
        prog="python -m spinneret.access.tokens.bootstrap",
        description="Create the next key that signs access tokens; delete those without tokens.",
    )
    parser.add_argument("--table", required=True, help="the stack's output TenancyTable")
    parser.add_argument("--stage", required=True, help="the stack's parameter Stage")
    given = parser.parse_args(arguments)
    try:
        rotation = rotation_in(dynamodb_client(), given.table, kms_client(), given.stage)
        result = rotation.run(at_once=True)
    except (DependencyUnavailable, BotoCoreError, ClientError) as error:
        sys.stderr.write(f"no key was rotated: {error}\n")
        return 1
    sys.stdout.write(f"created {result.created}, deleted {result.deleted}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
