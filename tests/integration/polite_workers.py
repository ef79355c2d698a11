"""Worker processes that a test controls: it sends orders and reads their reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict
from threading import Condition, Thread
from typing import Any, Final

from tests.conftest import ROOT
from tests.integration.polite_process import Orders

END_SECONDS: Final = 60.0


class WorkerProcess:
    """A process that runs `polite_process`."""

    def __init__(self, variables: dict[str, str]) -> None:
        self._variables = variables
        self.lines: list[dict[str, Any]] = []
        """Reports since the last orders."""
        self._change = Condition()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.polite_process"],
            cwd=ROOT,
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = Thread(target=self._read)
        self._reader.start()

    def take(self, orders: Orders) -> None:
        """Send orders; the process starts them after `go`."""
        self.lines = []
        self._write(json.dumps(asdict(orders)))

    def go(self) -> None:
        self._write("go")

    def wait(self, *words: str, times: int = 1, seconds: float) -> None:
        """Wait until the process has reported any of the words `times` times in total."""

        def said() -> bool:
            return sum(len(self.reported(word)) for word in words) >= times

        with self._change:
            self._change.wait_for(lambda: said() or not self._reader.is_alive(), seconds)
        assert said(), self.lines

    def reported(self, word: str) -> list[Any]:
        return [line[word] for line in self.lines if word in line]

    def killed(self) -> WorkerProcess:
        """Kill the process in the middle of its work, and return a new one."""
        self._process.kill()
        self.end()
        return WorkerProcess(self._variables)

    def end(self) -> None:
        """Close the process's input, at which it ends; kill the process after a time-out."""
        try:
            self._process.communicate(timeout=END_SECONDS)
        finally:
            self._process.kill()
            self._reader.join()

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._change:
                self.lines.append(json.loads(line))
                self._change.notify_all()
        with self._change:
            self._change.notify_all()


def start(workers: list[WorkerProcess], every: list[Orders]) -> None:
    """Send each worker its orders, and start all of them at the same time."""
    for worker, each in zip(workers, every, strict=True):
        worker.take(each)
    for worker in workers:
        worker.wait("ready", seconds=END_SECONDS)
    for worker in workers:
        worker.go()


def reported(workers: list[WorkerProcess], word: str) -> list[Any]:
    """Return the values that all workers reported under this word."""
    return [each for worker in workers for each in worker.reported(word)]
