"""Commands that install something: quiet, logged, and with a deadline."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.errors import InstallError
from stack.files import last_lines

SHOWN_LINES = 20


def run(
    command: Sequence[str | Path],
    *,
    log: Path,
    seconds: float,
    directory: Path,
    environ: Mapping[str, str],
) -> None:
    """Run a command and log its output. Raises InstallError with the end of the log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    words = [str(word) for word in command]
    with log.open("a") as output:
        output.write(f"$ {' '.join(words)}\n")
        output.flush()
        try:
            result = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=directory,
                env=dict(environ),
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise InstallError(
                f"{words[0]} did not end within {seconds:.0f} s; see {log}"
            ) from error
    if result.returncode != 0:
        end = "\n".join(f"  {line}" for line in last_lines(log, SHOWN_LINES))
        raise InstallError(f"{words[0]} ended with {result.returncode}; the end of {log}:\n{end}")
