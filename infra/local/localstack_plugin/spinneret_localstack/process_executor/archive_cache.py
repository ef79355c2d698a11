"""Unpacked code and layers on disk: one folder per content, shared by all functions that use it.

Unpacking and compiling all layers takes 13 s of processor time, so folders outlive their use and
LocalStack: the next deployment or start mostly has the same ones.
"""

import base64
import functools
import hashlib
import os
import shutil
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from spinneret_localstack.process_executor.compilation import adopt_compiled

_UNPACKED = ("code-", "layer-")  # unlike merged layers
_UNFINISHED = "unfinished-"
KEPT_SECONDS = 2 * 24 * 3600.0  # after the last use, looked at when LocalStack starts


class Archive(Protocol):
    """Subset of LocalStack's ArchiveCode that this module uses."""

    @property
    def code_sha256(self) -> str: ...

    def prepare_for_execution(self) -> None: ...

    def get_unzipped_code_location(self) -> Path: ...

    def destroy_cached(self) -> None: ...


@dataclass(frozen=True)
class FunctionFolders:
    """Folders of a function: task_root replaces /var/task, opt replaces /opt.

    `entries` are the cache entries in use.
    """

    task_root: Path
    opt: Path
    entries: tuple[str, ...]


@dataclass
class _Entry:
    path: Path
    uses: int = 0
    building: threading.Lock = field(default_factory=threading.Lock)


class ArchiveCache:
    """Thread-safe cache of unpacked archives, in a folder that one LocalStack uses at a time."""

    def __init__(self, root: Path, compile_missing: Callable[[Path], None]) -> None:
        """Remove unfinished folders, and folders without a use for KEPT_SECONDS.

        `compile_missing` compiles the Python files of a folder that aren't compiled yet.
        """
        self._root = root
        self._compile_missing = compile_missing
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        self._no_layers = root / "no-layers"
        self._no_layers.mkdir(parents=True, exist_ok=True)
        for path in root.iterdir():
            old = path.stat().st_mtime < time.time() - KEPT_SECONDS and path != self._no_layers
            if old or path.name.startswith(_UNFINISHED):
                shutil.rmtree(path)

    def prepare(self, code: Archive, layers: Sequence[Archive]) -> FunctionFolders:
        """Unpack missing archives, and return their folders. Files of later layers win, as on AWS.

        Each call requires a `release`.
        """
        held: list[str] = []
        try:
            task_root = self._hold(held, _key("code", code), functools.partial(self._unpack, code))
            opt = self._prepare_layers(held, layers)
        except BaseException:
            self._release(held)
            raise
        return FunctionFolders(task_root, opt, tuple(held))

    def release(self, folders: FunctionFolders) -> None:
        self._release(folders.entries)

    def _prepare_layers(self, held: list[str], layers: Sequence[Archive]) -> Path:
        folders = [
            self._hold(held, _key("layer", layer), functools.partial(self._unpack, layer))
            for layer in layers
        ]
        if not folders:
            return self._no_layers
        if len(folders) == 1:
            return folders[0]
        digest = hashlib.sha256("\n".join(folder.name for folder in folders).encode())
        return self._hold(held, f"layers-{digest.hexdigest()}", functools.partial(_merge, folders))

    def _unpack(self, archive: Archive, at: Path) -> None:
        try:
            archive.prepare_for_execution()
            archive.get_unzipped_code_location().rename(at)
        finally:
            archive.destroy_cached()
        # A new version of code mostly has the same files, which then needn't be compiled again.
        adopt_compiled(at, self._present())
        self._compile_missing(at)

    def _present(self) -> list[Path]:
        """Return the folders of unpacked archives that are in use."""
        with self._lock:
            held = [entry.path for entry in self._entries.values()]
        return [path for path in held if path.name.startswith(_UNPACKED) and path.exists()]

    def _hold(self, held: list[str], name: str, build: Callable[[Path], None]) -> Path:
        with self._lock:
            entry = self._entries.setdefault(name, _Entry(self._root / name))
            entry.uses += 1
        held.append(name)
        with entry.building:
            if not entry.path.exists():
                unfinished = self._root / f"{_UNFINISHED}{uuid.uuid4().hex}"
                try:
                    build(unfinished)
                    unfinished.rename(entry.path)
                finally:
                    shutil.rmtree(unfinished, ignore_errors=True)
            os.utime(entry.path)
        return entry.path

    def _release(self, names: Sequence[str]) -> None:
        with self._lock:
            for name in names:
                entry = self._entries[name]
                entry.uses -= 1
                if not entry.uses:
                    del self._entries[name]


def _key(kind: str, archive: Archive) -> str:
    return f"{kind}-{base64.b64decode(archive.code_sha256).hex()}"


def _merge(layers: Sequence[Path], at: Path) -> None:
    at.mkdir()
    for layer in layers:
        shutil.copytree(layer, at, symlinks=True, copy_function=_link_over, dirs_exist_ok=True)


def _link_over(source: str, target: str) -> str:
    Path(target).unlink(missing_ok=True)
    # A hard link: merging a layer of 100 MB is fast and takes no space.
    os.link(source, target, follow_symlinks=False)
    return target
