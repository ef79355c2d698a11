"""`doctor`: examine the instance's stage, as the operator's command line does on AWS."""

import argparse
from typing import Any, Final

from stack import aws
from stack.deployment import record
from stack.errors import StackError
from stack.instance import Instance
from stack.workspace import Workspace

_FAULT: Final = 2  # exit code


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments except the instance."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Print the table; return 0, 1 with warnings, or 2 with a fault, as of a stopped instance."""
    # Imported here, because the package's AWS side takes most of the command's time to import.
    from spinneret.operations.doctor.bootstrap import AwsStage, report  # noqa: PLC0415

    instance = Instance.named(arguments.instance, workspace)
    try:
        endpoints, deployment = record.endpoints(instance), record.current(instance)
    except StackError as error:
        workspace.progress.warn(f"error: {error}")
        return _FAULT
    gateway = endpoints["gateway"]

    def client(service: str) -> Any:
        return aws.client(service, gateway)

    # Takes and returns plain Python values, like the product's own client.
    tables = aws.session(gateway).resource("dynamodb").meta.client
    stage = AwsStage(
        record.STACK_NAME,
        client,
        tables,
        api_url=deployment.api_url(gateway),
        index_url=endpoints["opensearch"],
    )
    return report(stage, workspace.progress.say)
