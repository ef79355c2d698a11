"""Artifacts of a pom: resolved by Maven, or by jgo without Maven, and checked by digest."""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stack.errors import InstallError, UsageError
from stack.locks import exclusive
from stack.tools.command import run
from stack.tools.store import LOCK_SECONDS, Store, Tool
from stack.tools.venv import python, venv_tool
from stack.workspace import Workspace

VARIABLE: Final = "SPINNERET_MVN"
# Value for no Maven of the machine: jgo is used, as on a machine without Maven.
NONE: Final = "none"
RESOLVE_SECONDS: Final = 900.0
_JGO_SCRIPT = Path(__file__).with_name("resolve_with_jgo.py")


def maven_tool(workspace: Workspace) -> Tool:
    """Return jgo, for machines without Maven."""
    return venv_tool("maven", "a Maven resolver", workspace.requirements / "maven.txt")


def of_machine(environ: Mapping[str, str]) -> Path | None:
    """Return the machine's mvn, or None."""
    named = environ.get(VARIABLE, "").strip()
    if named == NONE:
        return None
    found = shutil.which(named or "mvn", path=environ.get("PATH"))
    if found is None and named:
        raise UsageError(f"{VARIABLE}={named} is not a program")
    return Path(found) if found else None


def fetch(store: Store, tool: Tool, pom: Path, target: Path) -> None:
    """Copy the files that the pom resolves to into the folder, without checking them."""
    workspace = store.workspace
    # Two processes must not write Maven's local repository at once.
    lock = workspace.locks / "maven.lock"
    with exclusive(lock, on_wait=lambda: None, timeout=LOCK_SECONDS):
        mvn = of_machine(workspace.environ)
        run(
            _maven(mvn, pom, target) if mvn else _jgo(store, pom, target),
            log=store.log(tool),
            seconds=RESOLVE_SECONDS,
            directory=workspace.root,
            environ=workspace.environ,
        )


def _maven(mvn: Path, pom: Path, target: Path) -> list[str | Path]:
    quietly = ("--batch-mode", "--quiet", "--strict-checksums")
    folder = f"-DoutputDirectory={target}"
    goal = "dependency:copy-dependencies"
    return [mvn, *quietly, "-f", pom, goal, folder, "-DincludeScope=runtime"]


def _jgo(store: Store, pom: Path, target: Path) -> list[str | Path]:
    interpreter = python(store.ensure(maven_tool(store.workspace)))
    # A temporary repository, because an interrupted download leaves half a file.
    return [interpreter, _JGO_SCRIPT, pom, target, target.with_name("repository")]


def fetch_checked(store: Store, tool: Tool, folder: Path, target: Path) -> None:
    """Fetch the artifacts of `folder/pom.xml`, and check them with `folder/artifacts.sha256`."""
    expected = read_digests(folder / "artifacts.sha256")
    fetch(store, tool, folder / "pom.xml", target)
    verify(target, expected)
    shutil.rmtree(target.with_name("repository"), ignore_errors=True)


def read_digests(path: Path) -> dict[str, str]:
    """Map file names to SHA-256, from a file in the format of `sha256sum`."""
    lines = [line.split(maxsplit=1) for line in path.read_text().splitlines()]
    return {name: digest for digest, name in lines}


def digests(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
    }


def write_digests(path: Path, folder: Path) -> None:
    path.write_text("".join(f"{value}  {name}\n" for name, value in digests(folder).items()))


def verify(folder: Path, expected: Mapping[str, str]) -> None:
    """Raise InstallError unless the folder holds exactly the expected files."""
    present = digests(folder)
    wrong = [name for name, digest in expected.items() if present.get(name, digest) != digest]
    missing = [name for name in expected if name not in present]
    surplus = [name for name in present if name not in expected]
    faults = {"of other content": wrong, "missing": missing, "not expected": surplus}
    text = "; ".join(f"{what}: {', '.join(names)}" for what, names in faults.items() if names)
    if text:
        raise InstallError(f"the artifacts differ from the pinned ones: {text}")
