"""A named instance of the stack: its folders, and the record of its running parts."""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

from stack.errors import UsageError
from stack.files import write_json
from stack.locks import exclusive
from stack.ports import Ports
from stack.process import ProcessId, is_alive, owned
from stack.workspace import Workspace

DEFAULT_NAME: Final = "dev"
# An `up` that installs everything, or a deployment, may take this long.
LOCK_SECONDS: Final = 7_200.0
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Running:
    """A part's main process and the folders of the tools that it was started with."""

    process: ProcessId
    tools: tuple[str, ...]


@dataclass(frozen=True)
class Record:
    """Parts that an instance runs; written before waiting for a part, so that no part gets lost.

    `boot` is the machine's boot: start times of processes are comparable only within one boot.
    """

    boot: str
    ports: Ports
    parts: dict[str, Running]

    def alive(self) -> dict[str, Running]:
        """Return the parts whose main process is running."""
        if self.boot != machine_boot():
            return {}
        return {name: part for name, part in self.parts.items() if is_alive(part.process)}

    def with_part(self, name: str, part: Running) -> Self:
        return replace(self, parts={**self.parts, name: part})

    def without(self, names: Collection[str]) -> Self:
        rest = {name: part for name, part in self.parts.items() if name not in names}
        return replace(self, parts=rest)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        parts = {
            name: Running(ProcessId(**part["process"]), tuple(part["tools"]))
            for name, part in value["parts"].items()
        }
        return cls(value["boot"], Ports(**value["ports"]), parts)


@dataclass(frozen=True)
class Instance:
    """Folders of one instance, which has its own loopback ports."""

    name: str
    folder: Path

    @classmethod
    def named(cls, name: str, workspace: Workspace) -> Self:
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name!r} is not an instance's name: use a-z, 0-9 and -, at most 31 characters"
            )
        return cls(name, workspace.instances / name)

    @property
    def data(self) -> Path:
        """Folder of temporary data, emptied at each start of the instance."""
        return self.folder / "data"

    @property
    def is_durable(self) -> bool:
        """Whether its data outlive its processes."""
        return not self._fleeting.exists()

    @property
    def _fleeting(self) -> Path:
        return self.folder / "fleeting"

    def make_fleeting(self) -> None:
        """Let its data end with its processes, which is faster."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._fleeting.touch()

    def kept(self, part: str) -> Path:
        """Return a part's folder that outlives its process if the instance is durable."""
        return (self.folder / "kept" if self.is_durable else self.data / "kept") / part

    @property
    def logs(self) -> Path:
        return self.folder / "logs"

    @property
    def endpoints_file(self) -> Path:
        return self.folder / "endpoints.json"

    @property
    def run_file(self) -> Path:
        return self.folder / "run.json"

    def log(self, part: str) -> Path:
        return self.logs / f"{part}.log"

    def read(self) -> Record | None:
        """Return the record of the last start, or None if the instance was never started.

        A record in the format of another version of this program counts as none; its processes are
        still found by their mark.
        """
        try:
            return Record.from_json(json.loads(self.run_file.read_text()))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def write(self, record: Record) -> None:
        write_json(self.run_file, asdict(record))

    def owner(self, part: str) -> str:
        """Return the mark of all processes of a part, unique among all instances of the machine."""
        return f"{self.folder}:{part}"

    def processes(self, part: str) -> list[ProcessId]:
        """Return all live processes of a part, even without its main process."""
        return owned(self.owner(part), (self.data / part, self.kept(part)))


def all_instances(workspace: Workspace) -> Iterator[Instance]:
    if workspace.instances.is_dir():
        for folder in sorted(workspace.instances.iterdir()):
            if _NAME.fullmatch(folder.name):
                yield Instance(folder.name, folder)


def machine_boot() -> str:
    return _BOOT_ID.read_text().strip()


@contextmanager
def instance_lock(instance: Instance, workspace: Workspace) -> Iterator[None]:
    """Keep other commands from starting or stopping the instance during the block."""
    wait = f"another command works on instance {instance.name}; waiting …"
    lock = workspace.locks / f"instance-{instance.name}.lock"
    say = workspace.progress.say
    with exclusive(lock, on_wait=lambda: say(wait), timeout=LOCK_SECONDS):
        yield
