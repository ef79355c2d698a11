"""Parts of the local stack that get no time: a stopped process, or one service of LocalStack."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from tests.conftest import Stack

FLAP_SECONDS: Final = 5.0


class Part(Protocol):
    """A part that can be stopped; both may be called twice in a row."""

    def stop(self) -> None:
        """Give it no more time."""

    def resume(self) -> None:
        """Let it go on where it was."""


class Processes:
    """A part that consists of processes."""

    def __init__(self, find: Callable[[], list[int]]) -> None:
        self._find = find
        self._stopped: list[int] = []

    def stop(self) -> None:
        """Stop those that there are now."""
        for pid in self._find():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._stopped.append(pid)

    def resume(self) -> None:
        """Resume those that are left of them."""
        while self._stopped:
            with suppress(ProcessLookupError):
                os.kill(self._stopped.pop(), signal.SIGCONT)


@dataclass(frozen=True)
class Service:
    """One service of LocalStack: the plug-in holds its requests while its file exists."""

    file: Path

    def stop(self) -> None:
        """Hold requests and answers."""
        self.file.touch()

    def resume(self) -> None:
        """Let them pass."""
        self.file.unlink(missing_ok=True)


def part(stack: Stack, name: str) -> Part:
    """A part of the stack by its name."""
    if name in {"sqs", "s3", "stepfunctions"}:
        return Service(stack.folder / "data" / "localstack" / "hung" / name)
    if name == "emulator":  # with DynamoDB Local and the functions, its children
        return Processes(lambda: [_main(stack, "localstack"), *_below(_main(stack, "localstack"))])
    if name == "dynamodb":
        return Processes(lambda: _below(_main(stack, "localstack"), b"dynamodb"))
    if name == "functions":
        return Processes(lambda: _below(_main(stack, "localstack"), b"runtime_entry"))
    return Processes(lambda: [_main(stack, name)])


@contextmanager
def stopped(stack: Stack, name: str) -> Iterator[None]:
    """The part gets no time."""
    one = part(stack, name)
    one.stop()
    try:
        yield
    finally:
        one.resume()


def hang(one: Part, seconds: float) -> None:
    """Stop it once, for so long."""
    try:
        one.stop()
        time.sleep(seconds)
    finally:
        one.resume()


def flap(one: Part, seconds: float) -> None:
    """Stop it and let it go on by turns, for so long in all."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        hang(one, FLAP_SECONDS)
        time.sleep(FLAP_SECONDS)


def _main(stack: Stack, name: str) -> int:
    record = json.loads((stack.folder / "run.json").read_text())
    return int(record["parts"][name]["process"]["pid"])


def _below(root: int, word: bytes = b"") -> list[int]:
    """All processes that descend from one, and that were started with this word."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # gone
            status = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(status[1])
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    found = [pid for pid in sorted(below - {root}) if word in _words(pid).lower()]
    assert found, f"no process below {root} has {word!r} in its command"
    return found


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
