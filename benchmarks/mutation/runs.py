"""Copy the tree, and run pytest in the copies with one mutant or none."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Final

from benchmarks.mutation.expressions import MISCOUNTED
from benchmarks.mutation.mutants import Mutant

TIMEOUT_FACTOR: Final = 5.0  # multiple of the unmutated run's time
TIMEOUT_LEAST_SECONDS: Final = 60.0  # minimum, because a busy machine is slow
BASELINE_SECONDS: Final = 900.0
_LEFT_OUT: Final = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build")
_FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# DynamoDB's messages for an invalid expression, and for a value that no expression uses.
_INVALID: Final = re.compile(r"Invalid \w+Expression|unused in expressions")
_OPTIONS: Final = ("-x", "-rfE", "-p", "no:cacheprovider", "--color=no", "--tb=short")
_TAIL_LINES: Final = 40


class RunFailed(Exception):
    """Raised if the tests fail without a mutant, or if a mutant isn't a valid edit."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Tests that run together: marks, and files or folders, which may have wildcards."""

    paths: tuple[str, ...]
    marks: str = "not stack and (moto or not heavy)"
    environ: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Outcome of a run with a mutant."""

    killed_by: str | None
    """First test that failed, or the time-out; None for a survivor."""
    seconds: float


@dataclass(kw_only=True)
class Runs:
    """Runner of selections in copies of a tree; `copies` threads may use it at a time."""

    root: Path
    folder: Path
    copies: int
    _seconds: dict[Selection, float] = field(default_factory=dict)
    _copies: SimpleQueue[Path] = field(default_factory=SimpleQueue)
    _baseline: Lock = field(default_factory=Lock)
    _running: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        shutil.copytree(self.root, self.pristine, ignore=_LEFT_OUT)

    @property
    def pristine(self) -> Path:
        """The copy that never has a mutant."""
        return self.folder / "pristine"

    def baseline(self, selection: Selection) -> float:
        """Run tests once without a mutant; return the seconds. Raises RunFailed if they fail."""
        with self._baseline:
            if selection not in self._seconds:
                started = time.monotonic()
                code, output = self._pytest(self.pristine, selection, BASELINE_SECONDS)
                if code != 0:
                    raise RunFailed(f"the tests fail without a mutant:\n{_tail(output)}")
                self._seconds[selection] = time.monotonic() - started
            return self._seconds[selection]

    def split(self) -> None:
        """Create the copies, with the compiled files of the runs so far."""
        for number in range(self.copies):
            copy = self.folder / f"copy-{number}"
            shutil.copytree(self.pristine, copy)
            self._copies.put(copy)

    def with_mutant(self, mutant: Mutant, selection: Selection) -> Outcome:
        """Run the tests with a mutant. Raises RunFailed if it makes requests invalid."""
        seconds = max(TIMEOUT_LEAST_SECONDS, TIMEOUT_FACTOR * self.baseline(selection))
        copy = self._copies.get()
        path, original = copy / mutant.path, self.pristine / mutant.path
        try:
            path.write_bytes(mutant.applied_to(original.read_bytes()))
            # Python detects a stale compiled file by its size and whole seconds.
            moment = original.stat().st_mtime + 2
            os.utime(path, (moment, moment))
            started = time.monotonic()
            code, output = self._pytest(copy, selection, seconds, PYTHONDONTWRITEBYTECODE="1")
            return Outcome(
                killed_by=_killer(mutant, code, output), seconds=time.monotonic() - started
            )
        finally:
            shutil.copy2(original, path)
            self._copies.put(copy)

    def stop(self) -> None:
        """End all runs in progress."""
        for group in list(self._running):
            with suppress(ProcessLookupError):  # the run has just ended
                os.killpg(group, signal.SIGKILL)

    def _pytest(
        self, copy: Path, selection: Selection, seconds: float, **environ: str
    ) -> tuple[int | None, str]:
        """Run pytest; return its exit code (None after a time-out) and its output."""
        paths = [
            found.relative_to(copy).as_posix()
            for path in selection.paths
            for found in sorted(copy.glob(path))
        ]
        if not paths:
            raise RunFailed(f"there are no tests at {' '.join(selection.paths)}")
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *paths, "-m", selection.marks, *_OPTIONS],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy), **dict(selection.environ), **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # so that a kill also ends the processes of its tests
        )
        self._running.add(process.pid)
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None, ""
        finally:
            self._running.discard(process.pid)
        return process.returncode, output


def _killer(mutant: Mutant, code: int | None, output: str) -> str | None:
    match code:
        case None:
            return "time-out"
        case 0:
            return None
        case 1 if not _INVALID.search(output) and (failed := _FAILED.search(output)):
            return failed[1]
    reason = "its condition has another shape at run time" if code == MISCOUNTED else _tail(output)
    raise RunFailed(f"{mutant.name} is no valid mutant:\n{reason}")


def _tail(output: str) -> str:
    return "\n".join(output.splitlines()[-_TAIL_LINES:])
