"""`validate`: check the templates with SAM and cfn-lint."""

import argparse

from stack.deployment.sam import Sam
from stack.instance import Instance
from stack.tools.python_tools import sam_tool
from stack.tools.store import Store
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""
    del parser


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    """Validate the templates; needs SAM, but no running instance."""
    instance = Instance.named(arguments.instance, workspace)
    sam = Store(workspace).ensure(sam_tool(workspace)) / "bin" / "sam"
    Sam(workspace, instance, {"sam": str(sam), "gateway": "http://127.0.0.1:1"}).validate()
    return 0
