"""Compiled Python of unpacked archives, made once before many processes import it."""

import filecmp
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

COMPILE_SECONDS = 300


def adopt_compiled(folder: Path, former: Iterable[Path]) -> None:
    """Link the compiled files of a layer's former versions whose sources are the same here."""
    for other in former:
        if not _is_version_of(folder, other):
            continue
        for compiled in other.rglob("__pycache__/*.pyc"):
            old = compiled.parent.parent / f"{compiled.name.partition('.')[0]}.py"
            new = folder / old.relative_to(other)
            target = folder / compiled.relative_to(other)
            if new.exists() and not target.exists() and filecmp.cmp(old, new, shallow=False):
                _link(compiled, target, old, new)


def _is_version_of(folder: Path, other: Path) -> bool:
    """Return whether the layers share most packages: comparing all files of two takes a second."""
    names, others = (
        {path.name for path in (each / "python").glob("*")} for each in (folder, other)
    )
    return 2 * len(names & others) > len(names)


def _link(compiled: Path, target: Path, old: Path, new: Path) -> None:
    # A compiled file is valid for its source's time and size.
    os.utime(new, ns=(old.stat().st_atime_ns, old.stat().st_mtime_ns))
    target.parent.mkdir(exist_ok=True)
    os.link(compiled, target)


def compile_missing(interpreter: Path, folder: Path) -> None:
    """Compile all sources without a compiled file; a function reports its faulty ones itself."""
    subprocess.run(
        [interpreter, "-m", "compileall", "-q", folder],
        env={},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=COMPILE_SECONDS,
        check=False,
    )
