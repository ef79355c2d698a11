"""Python environments created by uv from pinned, hashed requirements."""

import functools
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from uv import find_uv_bin

from stack.errors import InstallError
from stack.tools.command import run
from stack.tools.store import Store, Tool

INSTALL_SECONDS: Final = 1_800.0


def python(folder: Path) -> Path:
    return folder / "bin" / "python"


def interpreter_fact() -> str:
    """Return the interpreter of new environments: another one needs other environments."""
    return f"{sys.base_prefix} {sys.version}"


def site_packages(folder: Path) -> Path:
    found = list(folder.glob("lib/python3*/site-packages"))
    if len(found) != 1:
        raise InstallError(f"{folder} is not a Python environment")
    return found[0]


class Venv:
    """Environment of a tool during its build."""

    def __init__(self, store: Store, tool: Tool, folder: Path) -> None:
        self._store = store
        self._tool = tool
        self.folder = folder

    def create(self, requirements: Path) -> None:
        """Create the environment with exactly the pinned packages."""
        self._uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, self.folder)
        self._pip("sync", "--require-hashes", requirements)

    def add_without_dependencies(self, requirements: Path) -> None:
        self._pip("install", "--no-deps", "--require-hashes", f"--requirements={requirements}")

    def add_project(self, project: Path) -> None:
        """Install one of our own packages, whose dependencies are already installed.

        It is built from a copy, since the build writes into the source folder.
        """
        with tempfile.TemporaryDirectory(prefix="spinneret-build-") as scratch:
            copy = Path(scratch) / project.name
            shutil.copytree(
                project, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
            self._pip("install", "--no-deps", "--no-build-isolation", "--offline", copy)

    def run(self, *arguments: str | Path, environ: dict[str, str], seconds: float) -> None:
        self._run([python(self.folder), *arguments], environ, seconds)

    def _pip(self, verb: str, *arguments: str | Path) -> None:
        self._uv("pip", verb, "--quiet", "--python", python(self.folder), *arguments)

    def _uv(self, *arguments: str | Path) -> None:
        environ = {**self._store.workspace.environ, "UV_NO_PROGRESS": "1"}
        self._run([uv(), *arguments], environ, INSTALL_SECONDS)

    def _run(self, command: list[str | Path], environ: dict[str, str], seconds: float) -> None:
        run(
            command,
            log=self._store.log(self._tool),
            seconds=seconds,
            directory=self._store.workspace.root,
            environ=environ,
        )


@functools.cache
def uv() -> str:
    """Return the uv of this command's environment.

    Several threads must not make the first call at once: uv uses sysconfig, which may then return
    unfinished values to one thread.
    """
    return str(find_uv_bin())


def venv_tool(name: str, title: str, requirements: Path) -> Tool:
    """Return a tool that is only an environment of pinned packages."""

    def build(store: Store, folder: Path) -> None:
        Venv(store, tool, folder).create(requirements)

    tool = Tool(name, title, (requirements,), (interpreter_fact(),), build)
    return tool
