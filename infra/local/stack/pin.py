"""`pin`: resolve the artifacts of the poms and record their digests, after a change of a pom."""

import argparse
import tempfile
from pathlib import Path

from stack.tools.jars import dynamodb_tool, opensearch_tool
from stack.tools.maven import fetch, write_digests
from stack.tools.store import Store
from stack.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def run(_: argparse.Namespace, workspace: Workspace) -> int:
    store = Store(workspace)
    for tool in (opensearch_tool(workspace), dynamodb_tool(workspace)):
        (source,) = tool.inputs
        with tempfile.TemporaryDirectory(prefix="spinneret-pin-") as scratch:
            target = Path(scratch) / "jars"
            fetch(store, tool, source / "pom.xml", target)
            write_digests(source / "artifacts.sha256", target)
        workspace.progress.say(f"wrote {source / 'artifacts.sha256'}")
    return 0
