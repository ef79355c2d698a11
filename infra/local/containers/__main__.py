"""Run a command while Podman answers where SAM looks for Docker.

    make sam-local PODMAN=1 F=Sweeper E=events/core/sweep.json

Needs root, podman and runc. Everything that it starts or creates is gone afterwards.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from containers import podman
from stack.errors import StackError, UsageError
from stack.tools.python_tools import runtime_tool
from stack.tools.store import Store
from stack.tools.venv import site_packages
from stack.workspace import Workspace


def main(words: Sequence[str]) -> int:
    """Return the command's exit code; 2 if Podman can't be used here."""
    # A command that is terminated must still end what it started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    workspace = Workspace.from_environment(os.environ)
    try:
        if not words:
            raise UsageError("name a command: python -m containers COMMAND")
        podman.require()
        store = Store(workspace)
        packages = site_packages(store.ensure(runtime_tool(workspace)))
        with podman.serving(packages):
            return subprocess.run(words, check=False).returncode
    except StackError as error:
        workspace.progress.warn(f"error: {error}")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
