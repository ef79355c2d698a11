"""Locations of the repository's sources and of the folder of tools and instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from stack.progress import Progress

LOCAL_VARIABLE: Final = "SPINNERET_LOCAL"
# Region and account of the stack's resources in LocalStack.
REGION: Final = "us-east-1"
ACCOUNT: Final = "000000000000"


@dataclass(frozen=True)
class Workspace:
    """Context of every command.

    `local` holds installed tools and instances. Git ignores it, and it can be deleted while no
    instance runs. `environ` is the caller's environment.
    """

    root: Path
    local: Path
    environ: Mapping[str, str]
    progress: Progress

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Workspace:
        root = Path(__file__).resolve().parents[3]
        local = Path(environ.get(LOCAL_VARIABLE) or root / ".local")
        return cls(root, local.absolute(), environ, Progress())

    @property
    def sources(self) -> Path:
        return self.root / "infra" / "local"

    @property
    def requirements(self) -> Path:
        return self.sources / "requirements"

    @property
    def tools(self) -> Path:
        return self.local / "tools"

    @property
    def instances(self) -> Path:
        return self.local / "instances"

    @property
    def locks(self) -> Path:
        return self.local / "locks"

    @property
    def install_logs(self) -> Path:
        return self.local / "logs"
