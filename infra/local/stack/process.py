"""Processes that outlive the command that started them.

A process is identified by its id and its start time. The kernel reuses ids, so the id alone may
later belong to another process.
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# Variable in the environment of every process of a part and of the processes it starts.
OWNER_VARIABLE = "SPINNERET_STACK_PART"
# Lambda functions get their own environment, which names their unpacked code.
TASK_VARIABLE = "LAMBDA_TASK_ROOT"

POLL_SECONDS = 0.05
KILL_SECONDS = 5.0
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessId:
    """A process; `started` is its start time in clock ticks since the machine's boot."""

    pid: int
    started: int


@dataclass(frozen=True)
class Spawn:
    """Command that starts a part. The environment is complete: the caller's isn't added."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path


def identify(pid: int) -> ProcessId | None:
    """Return the process that has this id now; None if there is none, or only a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat.rpartition(")")[2].split()  # the name before may contain spaces and brackets
    state, threads, started = fields[0], int(fields[17]), int(fields[19])
    # A killed process is a zombie before its last thread ends, and holds its ports until then.
    has_ended = state in "ZX" and threads <= 1
    return None if has_ended else ProcessId(pid, started)


def is_alive(process: ProcessId) -> bool:
    return identify(process.pid) == process


def started_at(process: ProcessId) -> float:
    """Return when the process was started, in seconds of the Unix epoch."""
    uptime = float(Path("/proc/uptime").read_text().split()[0])
    return time.time() - uptime + process.started / _CLOCK_TICKS


def proportional_bytes(process: ProcessId) -> int:
    """Return the memory in use, with a share of each shared page; 0 if the process has ended."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    line = next((each for each in text.splitlines() if each.startswith("Pss:")), "Pss: 0 kB")
    return int(line.split()[1]) * 1024


def spawn(
    spec: Spawn, *, log: Path, owner: str, inherited: Collection[int] = ()
) -> ProcessId | None:
    """Start a process in its own session, so that no signal of the terminal reaches it.

    It inherits these descriptors. Returns None when it has already ended.
    """
    environment = {**spec.environment, OWNER_VARIABLE: owner}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            spec.command,
            env=environment,
            cwd=spec.directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=tuple(inherited),
        )
    process = _when_marked(child.pid)
    # If it ends while this command still runs, it must not remain as a zombie.
    threading.Thread(target=child.wait, name=f"reap-{child.pid}", daemon=True).start()
    return process


def _when_marked(pid: int) -> ProcessId | None:
    """Wait until other processes can read the new program's environment, and so its mark."""
    while (process := identify(pid)) is not None:
        # Empty for an instant, while the kernel loads the new program.
        if Path(f"/proc/{pid}/environ").read_bytes():
            return process
        time.sleep(0.001)
    return None


def owned(owner: str, task_folders: Collection[Path]) -> list[ProcessId]:
    """Return all live processes of a part: with its mark, or running from its task folders."""
    mark = f"{OWNER_VARIABLE}={owner}".encode()
    tasks = tuple(f"{TASK_VARIABLE}={folder}/".encode() for folder in task_folders)
    found = []
    for pid, environment in _environments():
        entries = environment.split(b"\0")
        if mark in entries or any(entry.startswith(tasks) for entry in entries):
            process = identify(pid)
            if process is not None:
                found.append(process)
    return found


def _environments() -> Iterator[tuple[int, bytes]]:
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                yield int(entry.name), Path(entry.path, "environ").read_bytes()
            except (PermissionError, FileNotFoundError, ProcessLookupError):
                continue  # another user's, or ended meanwhile


def send(process: ProcessId, number: signal.Signals) -> bool:
    """Signal exactly this process; return False if it has ended, even if its id was reused."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(process):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True


def wait_until_gone(processes: Iterable[ProcessId], seconds: float) -> list[ProcessId]:
    """Wait for the end of all processes; return those still alive after `seconds`."""
    deadline = time.monotonic() + seconds
    alive = [process for process in processes if is_alive(process)]
    while alive and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        alive = [process for process in alive if is_alive(process)]
    return alive


def stop(
    mains: Iterable[ProcessId], family: Callable[[], list[ProcessId]], grace: float
) -> list[ProcessId]:
    """End the main processes, then the rest of their family.

    The mains get SIGTERM and `grace` seconds to end their children themselves; then every process
    of the family gets SIGKILL. Returns the processes that survived.
    """
    mains = [process for process in mains if send(process, signal.SIGTERM)]
    wait_until_gone(mains, grace)
    deadline = time.monotonic() + KILL_SECONDS
    rest = family()
    while rest and time.monotonic() < deadline:
        for process in rest:
            send(process, signal.SIGKILL)
        wait_until_gone(rest, deadline - time.monotonic())
        rest = family()  # a process may have started another one meanwhile
    return rest
