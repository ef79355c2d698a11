"""`install`: install the tools of the parts, several at a time."""

import argparse
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from stack.parts.catalogue import select
from stack.parts.part import Part
from stack.tools import java
from stack.tools.store import Store
from stack.tools.venv import uv
from stack.workspace import Workspace

# Installing mostly waits for the network.
WORKERS: Final = 4


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("part", nargs="*", help="only what these parts need (default: all)")


def run(arguments: argparse.Namespace, workspace: Workspace) -> int:
    parts = select(workspace, arguments.part)
    install(parts, Store(workspace), with_java=True)
    workspace.progress.say(f"installed in {workspace.tools}")
    return 0


def install(parts: Sequence[Part], store: Store, *, with_java: bool) -> None:
    """Install the missing tools.

    `with_java` also ensures a Java runtime, which is needed to start parts, not to use them.
    """
    tools = list({tool.name: tool for part in parts for tool in part.tools}.values())
    if with_java and any(part.needs_java for part in parts):
        java.provide(store)
    if all(store.is_installed(tool) for tool in tools):
        return
    uv()  # before there are threads; see `uv`
    with ThreadPoolExecutor(WORKERS) as pool:
        waits = [pool.submit(store.ensure, tool) for tool in tools]
        try:
            for wait in waits:
                wait.result()
        finally:
            pool.shutdown(cancel_futures=True)
