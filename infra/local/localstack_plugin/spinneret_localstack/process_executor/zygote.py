"""Functions' processes as forks of a process that has imported their libraries.

A start takes a tenth of the processor time then: imports were two seconds of it. Each pair of code
and layers has a zygote of its own, which ends when no fork of it has lived for a while.
"""

import json
import logging
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spinneret_localstack.process_executor.process_guard import ProcessGuard
from spinneret_localstack.process_executor.runtime_process import (
    Child,
    ProcessSpec,
    SpawnedProcess,
)

LOG = logging.getLogger(__name__)

# The first answer includes the imports; a slow machine may start several zygotes at once.
ANSWER_SECONDS = 30.0
# The interpreter and the dynamic linker read these when they start. Others see them in /proc also
# for the forks: `make down` finds the processes of an instance by their task root.
STARTING_VARIABLES = ("LAMBDA_TASK_ROOT", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH")
KILLED = -signal.SIGKILL


class ZygoteFailedError(Exception):
    """The zygote is dead, hangs or can't fork."""


@dataclass(frozen=True)
class ForkedProcess:
    """A Child that a zygote has forked."""

    pid: int
    reaped_by: Callable[[int], int]

    def await_end(self) -> None:
        try:
            process = os.pidfd_open(self.pid)
        except ProcessLookupError:  # ended and reaped by another one, since its zygote is dead
            return
        try:
            select.select([process], [], [])
        finally:
            os.close(process)

    def reap(self) -> int:
        return self.reaped_by(self.pid)


class Zygote:
    """A process that starts on construction and serves one caller at a time."""

    def __init__(self, spec: ProcessSpec, guard: ProcessGuard) -> None:
        self._guard = guard
        self._lock = threading.Lock()
        self._forks = 0
        self._used = time.monotonic()
        self._process = subprocess.Popen(
            spec.command("zygote"),
            env={name: spec.variables[name] for name in STARTING_VARIABLES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        guard.add(self._process.pid)

    def fork(self, spec: ProcessSpec) -> ForkedProcess:
        """Start a function's process. Raises ZygoteFailedError."""
        given = {
            "variables": dict(spec.variables),
            "folder": str(spec.folder),
            "log": str(spec.log),
        }
        with self._lock:
            answer = self._ask({"start": given})
            if "pid" not in answer:
                raise ZygoteFailedError(answer["error"])
            self._forks += 1
        return ForkedProcess(answer["pid"], self._reap)

    def idle_seconds(self) -> float:
        """Return for how long no fork has lived."""
        return 0.0 if self._forks else time.monotonic() - self._used

    def end(self) -> None:
        """End it; its forks live on."""
        self._process.kill()
        with self._process:  # waits, and closes the pipes
            pass
        self._guard.remove(self._process.pid)

    def _reap(self, pid: int) -> int:
        with self._lock:
            self._forks -= 1
            self._used = time.monotonic()
            try:
                code: int = self._ask({"reap": pid})["code"]
            except ZygoteFailedError:
                return KILLED
        return code

    def _ask(self, command: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            deadline = time.monotonic() + ANSWER_SECONDS
            answer = b""
            while not answer.endswith(b"\n"):
                wait = max(0.0, deadline - time.monotonic())
                if not select.select([self._process.stdout], [], [], wait)[0]:
                    raise ZygoteFailedError(f"no answer in {ANSWER_SECONDS:.0f} seconds")
                part = self._process.stdout.read(4096)
                if not part:
                    raise ZygoteFailedError("it has ended")
                answer += part
        except OSError as error:
            raise ZygoteFailedError(str(error)) from error
        return json.loads(answer)


class Zygotes:
    """The zygotes of a LocalStack, made at first use."""

    def __init__(self, guard: ProcessGuard, idle_seconds: float) -> None:
        self._guard = guard
        self._idle_seconds = idle_seconds
        self._lock = threading.Lock()
        self._zygotes: dict[tuple[str, ...], Zygote] = {}

    def begin(self, spec: ProcessSpec) -> Child:
        """Start a function's process: forked, or from nothing where that isn't possible."""
        key = (*spec.path, *(spec.variables[name] for name in STARTING_VARIABLES))
        with self._lock:
            if key not in self._zygotes:
                self._zygotes[key] = Zygote(spec, self._guard)
            zygote = self._zygotes[key]
        try:
            return zygote.fork(spec)
        except ZygoteFailedError as error:
            LOG.warning("a function's process starts without its zygote: %s", error)
            with self._lock:
                failed = self._zygotes.get(key) is zygote
                if failed:
                    del self._zygotes[key]
            if failed:
                zygote.end()
        return SpawnedProcess(spec)

    def end_idle(self) -> None:
        """End the zygotes that have had no living fork for `idle_seconds`."""
        with self._lock:
            idle = [
                key
                for key, zygote in self._zygotes.items()
                if zygote.idle_seconds() >= self._idle_seconds
            ]
            ended = [self._zygotes.pop(key) for key in idle]
        for zygote in ended:
            zygote.end()
