"""`rebuild-index`: rebuild the chunk index from rows and bodies, pass by pass."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from stack import aws
from stack.deployment import record
from stack.errors import UsageError
from stack.instance import Instance
from stack.workspace import Workspace

_FUNCTION: Final = "RebuildIndex"


def configure(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments except the instance."""


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Run passes until searches use the new index; return 1 when documents are lost."""
    instance = Instance.named(arguments.instance, workspace)
    deployment = record.current(instance)
    name = deployment.resources.get(_FUNCTION)
    if name is None:
        raise UsageError(f"the deployment has no function {_FUNCTION}")
    client = aws.client(aws.session(), "lambda", record.endpoints(instance)["gateway"])
    lost: list[str] = []
    while True:
        answer = client.invoke(FunctionName=name, Payload=b"{}")
        report: dict[str, Any] = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            workspace.progress.warn(f"error: {report.get('errorMessage')}")
            return 1
        lost += report["lost"]
        workspace.progress.say(f"{report['index']}: {report['documents']} documents")
        if report["done"]:
            break
    for each in lost:
        workspace.progress.warn(f"lost: {each}")
    return 1 if lost else 0
