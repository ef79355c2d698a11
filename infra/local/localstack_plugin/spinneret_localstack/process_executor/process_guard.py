"""End function processes and their children when LocalStack ends in any way.

A child process holds the reading end of a pipe whose only writing end is LocalStack's. When the
kernel closes that end, even after SIGKILL, the guard kills all registered process groups and
removes the working folder. (PR_SET_PDEATHSIG isn't sufficient: it is bound to the thread that
forked, and it spares grandchildren such as a browser.)

This file is both the parent's side and the guard's program, so it uses only the standard library.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import IO


class ProcessGuard:
    def __init__(self, folder: Path) -> None:
        """Start the guard, which removes `folder` when LocalStack ends."""
        self._folder = folder
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._pipe = self._start()

    def add(self, group: int) -> None:
        with self._lock:
            self._groups.add(group)
            self._send(f"+{group}\n")

    def remove(self, group: int) -> None:
        with self._lock:
            self._groups.discard(group)
            self._send(f"-{group}\n")

    def end(self) -> None:
        """End all registered groups; no process can be added afterwards."""
        with self._lock:
            self._pipe.close()
            _kill(self._groups)

    def _start(self) -> IO[str]:
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            env={},
            text=True,
            # Its own session: a Ctrl-C in LocalStack's terminal must not reach it.
            start_new_session=True,
        )
        assert guard.stdin is not None
        return guard.stdin

    def _send(self, line: str) -> None:
        try:
            self._pipe.write(line)
            self._pipe.flush()
        except BrokenPipeError:  # the guard was killed
            self._pipe = self._start()
            self._pipe.writelines(f"+{group}\n" for group in self._groups)
            self._pipe.flush()


def guard(commands: Iterable[str], folder: str) -> None:
    groups: set[int] = set()
    for command in commands:
        group = int(command[1:])
        if command.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)
    _kill(groups)
    shutil.rmtree(folder, ignore_errors=True)


def _kill(groups: Iterable[int]) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    guard(sys.stdin, sys.argv[1])
