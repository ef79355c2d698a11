"""Parts of the local stack that tests stop: processes, or one service of LocalStack."""

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
    """A part that can be stopped; both methods may be called twice in a row."""

    def stop(self) -> None:
        """Stop the part."""

    def resume(self) -> None:
        """Resume the part where it stopped."""


class Processes:
    """A part that consists of processes."""

    def __init__(self, find: Callable[[], list[int]]) -> None:
        self._find = find
        self._stopped: list[int] = []

    def stop(self) -> None:
        """Stop the processes that exist now."""
        for pid in self._find():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                self._stopped.append(pid)

    def resume(self) -> None:
        """Resume the stopped processes that still exist."""
        while self._stopped:
            with suppress(ProcessLookupError):
                os.kill(self._stopped.pop(), signal.SIGCONT)


@dataclass(frozen=True)
class Service:
    """One service of LocalStack; the plug-in holds its requests while `file` exists."""

    file: Path

    def stop(self) -> None:
        """Hold requests and responses."""
        self.file.touch()

    def resume(self) -> None:
        """Release requests and responses."""
        self.file.unlink(missing_ok=True)


def part(stack: Stack, name: str) -> Part:
    """Return the part of the stack with this name."""
    if name in {"sqs", "s3", "stepfunctions"}:
        return Service(stack.folder / "data" / "localstack" / "hung" / name)
    if name == "emulator":  # includes its children, DynamoDB Local and the functions
        return Processes(lambda: [_main(stack, "localstack"), *_below(_main(stack, "localstack"))])
    if name == "dynamodb":
        return Processes(lambda: _below(_main(stack, "localstack"), b"dynamodb"))
    if name == "functions":
        return Processes(lambda: _below(_main(stack, "localstack"), b"runtime_entry"))
    return Processes(lambda: [_main(stack, name)])


@contextmanager
def stopped(stack: Stack, name: str) -> Iterator[None]:
    """Stop the part within the context."""
    one = part(stack, name)
    one.stop()
    try:
        yield
    finally:
        one.resume()


def hang(one: Part, seconds: float) -> None:
    """Stop the part once, for `seconds`."""
    try:
        one.stop()
        time.sleep(seconds)
    finally:
        one.resume()


def flap(one: Part, seconds: float) -> None:
    """Stop and resume the part in turn, for `seconds` in total."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        hang(one, FLAP_SECONDS)
        time.sleep(FLAP_SECONDS)


def _main(stack: Stack, name: str) -> int:
    record = json.loads((stack.folder / "run.json").read_text())
    return int(record["parts"][name]["process"]["pid"])


def _below(root: int, word: bytes = b"") -> list[int]:
    """Return the descendants of a process whose command contains the word."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # the process has ended
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
