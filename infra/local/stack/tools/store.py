"""Installed tools, each in a folder named by a stamp of all its inputs.

A tool is built in its final folder, since Python environments cannot be moved. It counts as
installed once its marker file is written; an interrupted install is repeated. A changed input gives
another stamp and so another folder: a tool in use never changes under its processes. `tools/<name>`
is a link to the folder of the current sources.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stack.instance import all_instances
from stack.locks import exclusive
from stack.workspace import Workspace

MARKER: Final = ".complete"
# The slowest install is bounded by its own deadlines; the lock only has to outlast it.
LOCK_SECONDS: Final = 7_200.0
_STAMP_LENGTH = 12
_NOT_INPUT = {"__pycache__", "build", "dist", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


@dataclass(frozen=True)
class Tool:
    """A tool; `inputs` are files and folders, `facts` other values that the result depends on.

    `build` gets the store and the empty folder to fill; it may request other tools of the store.
    """

    name: str
    title: str
    inputs: tuple[Path, ...]
    facts: tuple[str, ...]
    build: Callable[[Store, Path], None]


class Store:
    """Tools at one moment; sources that change meanwhile count from the next command on."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._folder = workspace.tools / "store"
        self._paths: dict[str, Path] = {}
        # Threads of this command wait silently; waits for other commands are announced.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    def path(self, tool: Tool) -> Path:
        """Return the folder of this tool, whether installed or not."""
        if tool.name not in self._paths:
            # The folder counts too: an environment does not work at another place.
            name = f"{tool.name}-{stamp(tool, str(self._folder))}"
            self._paths[tool.name] = self._folder / name
        return self._paths[tool.name]

    def is_installed(self, tool: Tool) -> bool:
        return (self.path(tool) / MARKER).exists()

    def ensure(self, tool: Tool) -> Path:
        """Install the tool if it is missing; return its folder."""
        folder = self.path(tool)
        with self._locks[tool.name]:
            if not self.is_installed(tool):
                self._install(tool, folder)
        link(self.workspace.tools / tool.name, folder)
        return folder

    def log(self, tool: Tool) -> Path:
        """Return the log of the tool's latest install."""
        return self.workspace.install_logs / f"install-{tool.name}.log"

    def _install(self, tool: Tool, folder: Path) -> None:
        progress = self.workspace.progress
        wait = f"{tool.title} is being installed by another command; waiting …"
        lock = self.workspace.locks / f"tool-{tool.name}.lock"
        with exclusive(lock, on_wait=lambda: progress.say(wait), timeout=LOCK_SECONDS):
            if (folder / MARKER).exists():
                return
            if folder.exists():
                shutil.rmtree(folder)
            folder.mkdir(parents=True)
            self.log(tool).unlink(missing_ok=True)
            with progress.step(f"installing {tool.title}", f"installed {tool.title}"):
                tool.build(self, folder)
            (folder / MARKER).touch()
            self._prune(tool, folder)

    def _prune(self, tool: Tool, current: Path) -> None:
        """Remove former versions of a tool that no running instance uses."""
        in_use = set(_tools_in_use(self.workspace))
        for folder in self._folder.glob(f"{tool.name}-*"):
            name, _, _ = folder.name.rpartition("-")
            if name == tool.name and folder != current and str(folder) not in in_use:
                shutil.rmtree(folder)


def _tools_in_use(workspace: Workspace) -> Iterator[str]:
    for instance in all_instances(workspace):
        record = instance.read()
        if record is not None:
            for part in record.alive().values():
                yield from part.tools


def link(name: Path, target: Path) -> None:
    """Point a symbolic link to the target atomically."""
    if name.is_symlink() and name.readlink() == target:
        return
    name.parent.mkdir(parents=True, exist_ok=True)
    draft = name.with_name(f"{name.name}.{os.getpid()}-{threading.get_ident()}.new")
    draft.unlink(missing_ok=True)
    draft.symlink_to(target)
    draft.replace(name)


def stamp(tool: Tool, *facts: str) -> str:
    """Return a digest of all inputs (names and contents) and facts."""
    digest = hashlib.sha256()
    for fact in (tool.name, *tool.facts, *facts):
        digest.update(f"fact {fact}\n".encode())
    for path in tool.inputs:
        for file in _files(path):
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"file {file.relative_to(path.parent)} {content}\n".encode())
    return digest.hexdigest()[:_STAMP_LENGTH]


def _files(path: Path) -> Iterable[Path]:
    if not path.is_dir():
        return (path,)
    return sorted(
        file
        for file in path.rglob("*")
        if file.is_file()
        and not any(
            part in _NOT_INPUT or part.endswith(".egg-info")
            for part in file.relative_to(path).parts
        )
    )
