"""npm: the machine's own, or one of the tool store."""

import os
import shutil
from collections.abc import Mapping

from stack.tools.store import Store, Tool
from stack.tools.venv import venv_tool
from stack.workspace import Workspace


def node_tool(workspace: Workspace) -> Tool:
    """Return Node with npm, for machines without npm."""
    return venv_tool("node", "npm", workspace.requirements / "node.txt")


def with_npm(store: Store, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with a PATH on which npm is; it is installed if the machine has none."""
    path = environ.get("PATH", os.defpath)
    if shutil.which("npm", path=path) is None:
        path = f"{store.ensure(node_tool(store.workspace)) / 'bin'}:{path}"
    return {**environ, "PATH": path}
