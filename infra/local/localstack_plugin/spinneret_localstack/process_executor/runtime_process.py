"""One process of a function, in its own session, from its start to its end."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from spinneret_localstack.process_executor import runtime_entry
from spinneret_localstack.process_executor.exchange import Exchange, Reply, Request
from spinneret_localstack.process_executor.process_guard import ProcessGuard
from spinneret_localstack.process_executor.runtime_api import RuntimeApi

# SIGKILL takes effect at once, unless the process is inside an uninterruptible system call.
KILL_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class ProcessSpec:
    """`path` is the head of the search path; `calls` the folder of recorded calls, or empty."""

    interpreter: Path
    calls: str
    path: Sequence[str]
    variables: Mapping[str, str]
    folder: Path
    scratch: Path
    """Folder of the process alone, with its log; removed by `close`."""

    @property
    def log(self) -> Path:
        return self.scratch / "log"

    def command(self, kind: str) -> list[str]:
        """Return the command line of runtime_entry for a `function` or a `zygote`."""
        return [str(self.interpreter), runtime_entry.__file__, kind, self.calls, *self.path]


class Child(Protocol):
    """A process that leads a session of its own. No other process gets its `pid` before `reap`."""

    @property
    def pid(self) -> int: ...

    def await_end(self) -> None:
        """Return when the process has ended."""
        ...

    def reap(self) -> int:
        """Return the exit code of the ended process, negative for a signal."""
        ...


class SpawnedProcess:
    """A Child that starts from nothing."""

    def __init__(self, spec: ProcessSpec) -> None:
        with spec.log.open("wb") as log:
            self._process = subprocess.Popen(
                spec.command("function"),
                cwd=spec.folder,
                env=dict(spec.variables),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def await_end(self) -> None:
        # WNOWAIT keeps a zombie, so that no other process gets its id before the kill.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)

    def reap(self) -> int:
        return self._process.wait()


class RuntimeProcess:
    """A process that starts on construction.

    Its standard output and error go to one file, in order. A file guarantees, unlike a pipe, that
    text written before an answer is there when the answer arrives.
    """

    def __init__(
        self, spec: ProcessSpec, guard: ProcessGuard, begin: Callable[[ProcessSpec], Child]
    ) -> None:
        self._guard = guard
        self._exchange = Exchange()
        self._api = RuntimeApi(self._exchange)
        self._scratch, self._log = spec.scratch, spec.log
        self._log_position = 0
        self._peak_memory_mb = 0
        self._ending = threading.Lock()
        self._ended = threading.Event()
        self.exit_code: int | None = None
        self._log.write_bytes(b"")
        address = {"AWS_LAMBDA_RUNTIME_API": self._api.address}
        self._process = begin(replace(spec, variables={**spec.variables, **address}))
        guard.add(self._process.pid)
        threading.Thread(target=self._await_end, name="lambda-process-end", daemon=True).start()

    def wait_until_ready(self, timeout: float) -> bool:
        """Return False if the init failed or hasn't finished after `timeout` seconds."""
        return self._exchange.wait_until_ready(timeout)

    @property
    def init_error(self) -> bytes | None:
        return self._exchange.init_error

    @property
    def alive(self) -> bool:
        return not self._ended.is_set()

    def call(self, request: Request, timeout: float) -> Reply | None:
        """Send a request and return its reply; see `Exchange.call`."""
        return self._exchange.call(request, timeout)

    def kill(self) -> None:
        """End the process and all others of its group; return when it has ended."""
        self.peak_memory_mb()
        with self._ending:
            if self.exit_code is None:
                with contextlib.suppress(ProcessLookupError):  # its zygote is dead, too
                    os.killpg(self._process.pid, signal.SIGKILL)
        self._ended.wait(KILL_TIMEOUT_SECONDS)

    def close(self) -> None:
        """End the process, and remove its folder."""
        self.kill()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def take_log(self) -> str:
        """Return the log since the last call; return "" when the environment's folder is gone."""
        try:
            with self._log.open("rb") as log:
                log.seek(self._log_position)
                text = log.read()
        except FileNotFoundError:
            return ""
        self._log_position += len(text)
        return text.decode("utf-8", "replace")

    def peak_memory_mb(self) -> int:
        """Return the peak resident memory; for an ended process, the last known value."""
        # Not ru_maxrss: that also counts LocalStack's own memory, from between fork and exec.
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return self._peak_memory_mb
        for line in status.splitlines():  # a zombie's status has no such line
            if line.startswith("VmHWM:"):
                self._peak_memory_mb = int(line.split()[1]) // 1024
        return self._peak_memory_mb

    def _await_end(self) -> None:
        pid = self._process.pid
        self._process.await_end()
        with self._ending:
            with contextlib.suppress(ProcessLookupError):  # all of the group have ended
                os.killpg(pid, signal.SIGKILL)
            self.exit_code = self._process.reap()
        self._guard.remove(pid)
        self._ended.set()
        self._exchange.close()
        self._api.close()
