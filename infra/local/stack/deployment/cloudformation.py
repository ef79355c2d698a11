"""Stacks of the emulated CloudFormation."""

import time
from typing import Any, Final

from botocore.exceptions import ClientError

from stack.errors import StackError

DELETE_SECONDS: Final = 600.0
_POLL_SECONDS: Final = 0.3


def outputs(client: Any, name: str) -> dict[str, str]:
    """Return a stack's outputs. Raises StackError unless the whole stack was created."""
    [stack] = client.describe_stacks(StackName=name)["Stacks"]
    if stack["StackStatus"] != "CREATE_COMPLETE":
        reasons = [
            f"  {event['LogicalResourceId']}: {event.get('ResourceStatusReason', '')}"
            for event in client.describe_stack_events(StackName=name)["StackEvents"]
            if event["ResourceStatus"].endswith("FAILED")
        ]
        raise StackError("\n".join([f"stack {name} is {stack['StackStatus']}", *reasons]))
    return {each["OutputKey"]: each["OutputValue"] for each in stack.get("Outputs", [])}


def resources(client: Any, name: str) -> dict[str, str]:
    """Map logical ids to physical ids. Raises StackError for an incomplete resource."""
    found = {}
    for page in client.get_paginator("list_stack_resources").paginate(StackName=name):
        for each in page["StackResourceSummaries"]:
            if each["ResourceStatus"] != "CREATE_COMPLETE":
                raise StackError(f"{each['LogicalResourceId']} is {each['ResourceStatus']}")
            found[each["LogicalResourceId"]] = each["PhysicalResourceId"]
    return found


def delete(client: Any, name: str) -> bool:
    """Delete a stack and wait for the end; return False if it doesn't exist.

    The emulator may report a failure at a nested stack, although it continues to delete it. The
    deletion is then requested again.
    """
    if _status(client, name) is None:
        return False
    client.delete_stack(StackName=name)
    deadline = time.monotonic() + DELETE_SECONDS
    while (status := _status(client, name)) is not None:
        if time.monotonic() > deadline:
            raise StackError(f"stack {name} is {status} and can't be replaced: run `make clean`")
        time.sleep(_POLL_SECONDS)
        if status == "DELETE_FAILED":
            client.delete_stack(StackName=name)
    return True


def _status(client: Any, name: str) -> str | None:
    try:
        [stack] = client.describe_stacks(StackName=name)["Stacks"]
    except ClientError as error:
        if error.response["Error"]["Code"] != "ValidationError":
            raise
        return None
    status = str(stack["StackStatus"])
    return None if status == "DELETE_COMPLETE" else status
