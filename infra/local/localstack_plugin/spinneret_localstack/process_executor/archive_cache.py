"""Unpacked code and layers on disk: one folder per content, shared by all functions that use it.

Unpacking and compiling all layers takes 13 s of processor time, so folders outlive LocalStack: the
next deployment or start mostly has the same ones.
"""

import base64
import functools
import hashlib
import os
import shutil
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from spinneret_localstack.process_executor.compilation import adopt_compiled

_MERGED = "merged-"
_UNFINISHED = "unfinished-"
_FORMER_MOST = 16  # some versions of each of our layers
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
    """Folders of a function: task_root replaces /var/task, opt replaces /opt."""

    task_root: Path
    opt: Path


class ArchiveCache:
    """Thread-safe cache of unpacked archives, in a folder that one LocalStack uses at a time."""

    def __init__(self, root: Path, compile_missing: Callable[[Path], None]) -> None:
        """Remove unfinished folders, folders without a use for KEPT_SECONDS, and merged ones.

        `compile_missing` compiles the Python files of a folder that aren't compiled yet.
        """
        self._root = root
        self._compile_missing = compile_missing
        self._lock = threading.Lock()
        self._building: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._no_layers = root / "no-layers"
        self._no_layers.mkdir(parents=True, exist_ok=True)
        for path in root.iterdir():
            old = path.stat().st_mtime < time.time() - KEPT_SECONDS and path != self._no_layers
            # A merged folder links to layers, which may be removed before it.
            if old or path.name.startswith((_UNFINISHED, _MERGED)):
                shutil.rmtree(path)

    def prepare(self, code: Archive, layers: Sequence[Archive]) -> FunctionFolders:
        """Unpack missing archives, return their folders. Files of later layers win, as on AWS."""
        task_root = self._folder(_key("code", code), functools.partial(self._build_code, code))
        return FunctionFolders(task_root, self._prepare_layers(layers))

    def _prepare_layers(self, layers: Sequence[Archive]) -> Path:
        folders = [
            self._folder(_key("layer", layer), functools.partial(self._build_layer, layer))
            for layer in layers
        ]
        if not folders:
            return self._no_layers
        if len(folders) == 1:
            return folders[0]
        digest = hashlib.sha256("\n".join(folder.name for folder in folders).encode())
        return self._folder(f"{_MERGED}{digest.hexdigest()}", functools.partial(_merge, folders))

    def _build_code(self, code: Archive, at: Path) -> None:
        _unpack(code, at)
        self._compile_missing(at)

    def _build_layer(self, layer: Archive, at: Path) -> None:
        _unpack(layer, at)
        # A new version of a layer mostly has the same files, which then needn't be compiled again.
        adopt_compiled(at, self._former_layers())
        self._compile_missing(at)

    def _former_layers(self) -> list[Path]:
        """Return the folders of the layers that were used last."""
        layers = sorted(self._root.glob("layer-*"), key=lambda path: -path.stat().st_mtime)
        return layers[:_FORMER_MOST]

    def _folder(self, name: str, build: Callable[[Path], None]) -> Path:
        """Return the folder of this name, which is built if it is missing."""
        path = self._root / name
        with self._lock:
            building = self._building[name]
        with building:
            if not path.exists():
                unfinished = self._root / f"{_UNFINISHED}{uuid.uuid4().hex}"
                try:
                    build(unfinished)
                    unfinished.rename(path)
                finally:
                    shutil.rmtree(unfinished, ignore_errors=True)
            os.utime(path)
        return path


def _key(kind: str, archive: Archive) -> str:
    return f"{kind}-{base64.b64decode(archive.code_sha256).hex()}"


def _unpack(archive: Archive, at: Path) -> None:
    try:
        archive.prepare_for_execution()
        archive.get_unzipped_code_location().rename(at)
    finally:
        archive.destroy_cached()


def _merge(folders: Sequence[Path], at: Path) -> None:
    """Link the entries of all folders into `at`, with folders of one name merged."""
    at.mkdir()
    for name in dict.fromkeys(each.name for folder in folders for each in folder.iterdir()):
        found = [path for folder in folders if os.path.lexists(path := folder / name)]
        if len(found) > 1 and all(path.is_dir() for path in found):
            _merge(found, at / name)
        else:
            (at / name).symlink_to(found[-1])
