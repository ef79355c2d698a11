"""Chromium from its package: a folder of files compressed with brotli.

The package is `@sparticuz/chromium`, which is built for Lambda: one program that needs few
libraries, those libraries as Amazon Linux has them, and a font. Its own flags aren't used.
"""

import tarfile
from pathlib import Path
from typing import Final

import brotli  # type: ignore[import-untyped]  # ships no type information

PROGRAM: Final = "chromium"
LIBRARIES: Final = "lib"
FONT_SETTINGS: Final = "fonts.conf"
_PACKED_PROGRAM: Final = "chromium.br"
_PACKED_FOLDERS: Final = ("al2023.tar.br", "fonts.tar.br")
_CHUNK_BYTES: Final = 1024 * 1024


def is_unpacked(folder: Path) -> bool:
    """Whether the folder has the program itself."""
    return (folder / PROGRAM).is_file()


def is_packed(folder: Path) -> bool:
    """Whether the folder has the package's files."""
    return (folder / _PACKED_PROGRAM).is_file()


def unpack(package: Path, folder: Path) -> None:
    """Unpack the package's files into the folder; the program comes last and whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _PACKED_FOLDERS:
        plain = folder / name.removesuffix(".br")
        _decompress(package / name, plain)
        with tarfile.open(plain) as archive:
            archive.extractall(folder, filter="data")
        plain.unlink()
    (folder / FONT_SETTINGS).write_text(
        f"<fontconfig><dir>{folder / 'fonts'}</dir></fontconfig>", encoding="utf-8"
    )
    draft = folder / f"{PROGRAM}.new"
    _decompress(package / _PACKED_PROGRAM, draft)
    draft.chmod(0o755)
    draft.replace(folder / PROGRAM)


def _decompress(source: Path, target: Path) -> None:
    decoder = brotli.Decompressor()
    with source.open("rb") as packed, target.open("wb") as plain:
        while chunk := packed.read(_CHUNK_BYTES):
            plain.write(decoder.process(chunk))
    if not decoder.is_finished():
        raise ValueError(f"{source} is cut short")
