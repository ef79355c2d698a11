"""One process of a function, in its own session, from its start to its end."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spinneret_localstack.process_executor.exchange import Exchange, Reply, Request
from spinneret_localstack.process_executor.process_guard import ProcessGuard
from spinneret_localstack.process_executor.runtime_api import RuntimeApi

# SIGKILL takes effect at once, unless the process is inside an uninterruptible system call.
KILL_TIMEOUT_SECONDS = 10


@dataclass(frozen=True)
class ProcessSpec:
    command: Sequence[str]
    variables: Mapping[str, str]
    folder: Path
    log: Path


class RuntimeProcess:
    """A process that starts on construction.

    Its standard output and error go to one file, in order. A file guarantees, unlike a pipe, that
    text written before an answer is there when the answer arrives.
    """

    def __init__(self, spec: ProcessSpec, guard: ProcessGuard) -> None:
        self._guard = guard
        self._exchange = Exchange()
        self._api = RuntimeApi(self._exchange)
        self._log = spec.log
        self._log_position = 0
        self._peak_memory_mb = 0
        self._ending = threading.Lock()
        self._ended = threading.Event()
        self.exit_code: int | None = None
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                spec.command,
                cwd=spec.folder,
                env={**spec.variables, "AWS_LAMBDA_RUNTIME_API": self._api.address},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
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
                os.killpg(self._process.pid, signal.SIGKILL)
        self._ended.wait(KILL_TIMEOUT_SECONDS)

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
        # WNOWAIT keeps a zombie, so that its id isn't reused before the kill.
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with self._ending:
            os.killpg(pid, signal.SIGKILL)
            self.exit_code = self._process.wait()
        self._guard.remove(pid)
        self._ended.set()
        self._exchange.close()
        self._api.close()
