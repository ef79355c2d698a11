"""Sources of a deployment, and hashes that detect changes."""

import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from stack.deployment import template_parameters

# A fixed date makes the archive, and so its hash, depend only on the files.
_DATE: Final = (2020, 1, 1, 0, 0, 0)
_SKIPPED: Final = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", "node_modules"})


@dataclass(frozen=True)
class Sources:
    """Parts of the repository that are deployed."""

    root: Path

    @property
    def template(self) -> Path:
        """Template of the root stack."""
        return self.root / "template.yaml"

    @property
    def functions(self) -> Path:
        """Folder with the code of all functions."""
        return self.root / "functions"

    @property
    def console(self) -> Path:
        """Folder of the layer with the console's static files."""
        return self.root / "console"

    @property
    def common(self) -> Path:
        """Package of the common layer."""
        return self.root / "layers" / "common" / "spinneret"

    def shape(self, parameters: Mapping[str, str]) -> str:
        """Return a hash of everything that only CloudFormation can deploy.

        A parameter that only function variables hold isn't part of it.
        """
        known = template_parameters.read(self.template)
        files = self.templates()
        for pattern in ("statemachines/*", "layers/*/requirements.txt"):
            files += sorted(self.root.glob(pattern))
        files += _files(self.console)
        if not parameters.get("EmbedderUrl"):  # otherwise the layer stays empty
            files += sorted(_files(self.root / "layers" / "embedder"))
        facts = [
            f"{name}={value}"
            for name, value in sorted(parameters.items())
            if known[name].changes_resources
        ]
        return digest_of(files, self.root, facts)

    def templates(self) -> list[Path]:
        """Return all templates."""
        return [self.template, *sorted(self.root.glob("infra/*.yaml"))]

    def layers(self) -> list[Path]:
        """Return all files that a build of the layers reads, without the common layer's."""
        folders = [each for each in self.root.glob("layers/*/") if each != self.common.parent]
        return [file for each in (*sorted(folders), self.console) for file in _files(each)]

    @cached_property
    def function_archive(self) -> bytes:
        """Archive of the functions' code at the first use, in Lambda's format."""
        return archive(self.functions, "")

    @cached_property
    def common_archive(self) -> bytes:
        """Archive of the common layer at the first use, in Lambda's format."""
        return archive(self.common, "python/spinneret/")


def digest_of(files: Iterable[Path], root: Path, facts: Iterable[str] = ()) -> str:
    """Return the SHA-256 of names, contents and facts."""
    digest = hashlib.sha256()
    for fact in facts:
        digest.update(f"{fact}\n".encode())
    for file in files:
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        digest.update(f"{file.relative_to(root)} {content}\n".encode())
    return digest.hexdigest()


def archive(folder: Path, prefix: str) -> bytes:
    """Return a zip of a folder's files below `prefix`; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for file in _files(folder):
            entry = zipfile.ZipInfo(prefix + file.relative_to(folder).as_posix(), _DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            # The best compression would take longer than it saves within one machine.
            target.writestr(entry, file.read_bytes(), compresslevel=1)
    return buffer.getvalue()


def _files(folder: Path) -> Iterator[Path]:
    above = len(folder.parts)
    for file in sorted(folder.rglob("*")):
        if _SKIPPED.isdisjoint(file.parts[above:]) and file.is_file():
            yield file
