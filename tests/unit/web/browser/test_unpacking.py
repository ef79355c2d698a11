"""The browser's package on Lambda is unpacked at its first use."""

import io
import tarfile
from pathlib import Path

import brotli  # type: ignore[import-untyped]  # ships no type information
import pytest

from spinneret.web.browser.unpacking import is_packed, is_unpacked, unpack


def _archive(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    folder.mkdir()
    for name, content in {
        "chromium.br": b"program" * 1000,
        "al2023.tar.br": _archive("lib/libnss3.so", b"nss"),
        "fonts.tar.br": _archive("fonts/a.ttf", b"font"),
    }.items():
        (folder / name).write_bytes(brotli.compress(content))
    return folder


def test_a_package_becomes_a_program_with_libraries_and_fonts(
    package: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "deep" / "chromium"
    assert is_packed(package)
    assert not is_unpacked(package)
    unpack(package, folder)
    assert is_unpacked(folder)
    assert (folder / "chromium").read_bytes() == b"program" * 1000
    assert (folder / "chromium").stat().st_mode & 0o111
    assert sorted(each.name for each in folder.iterdir()) == [
        *("chromium", "fonts", "fonts.conf", "lib")
    ]


def test_a_package_that_is_cut_short_gives_no_program(package: Path, tmp_path: Path) -> None:
    packed = (package / "chromium.br").read_bytes()
    (package / "chromium.br").write_bytes(packed[:-2])
    with pytest.raises(ValueError, match="cut short"):
        unpack(package, tmp_path / "chromium")
    assert not is_unpacked(tmp_path / "chromium")
    unpack_again = package / "chromium.br"
    unpack_again.write_bytes(packed)
    unpack(package, tmp_path / "chromium")
    assert is_unpacked(tmp_path / "chromium")


def test_a_folder_that_escapes_is_refused(package: Path, tmp_path: Path) -> None:
    (package / "fonts.tar.br").write_bytes(brotli.compress(_archive("../outside", b"x")))
    with pytest.raises(tarfile.OutsideDestinationError):
        unpack(package, tmp_path / "chromium")
    assert not (tmp_path / "outside").exists()
