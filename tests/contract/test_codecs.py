"""Check that every codec has an exact row in a file test_stored_rows_*.py."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import spinneret
from spinneret.aws.codec import Codec
from tests.contract.exact_rows import Functions

CODE = Path(spinneret.__file__).parent
TESTS = Path(__file__).parent


def codecs() -> dict[str, Codec[Any]]:
    modules = [
        import_module(".".join(("spinneret", *file.relative_to(CODE).with_suffix("").parts)))
        for file in sorted(CODE.rglob("*.py"))
        if "= Codec(" in file.read_text()
    ]
    return {
        f"{module.__name__}.{name}": each
        for module in modules
        for name, each in vars(module).items()
        if isinstance(each, Codec)
    }


def test_every_codec_has_an_exact_row(monkeypatch: pytest.MonkeyPatch) -> None:
    used = set[int]()

    def noting(method: Callable[..., Any]) -> Callable[..., Any]:
        def noted(codec: Codec[Any], value: Any) -> Any:
            used.add(id(codec))
            return method(codec, value)

        return noted

    monkeypatch.setattr(Codec, "encode", noting(Codec.encode))
    monkeypatch.setattr(Codec, "decode", noting(Codec.decode))
    for file in TESTS.glob("test_stored_rows_*.py"):
        for name, each in vars(import_module(f"tests.contract.{file.stem}")).items():
            if isinstance(each, Functions):  # keeps a method from before the patch
                used.add(id(getattr(each.decode, "__self__", None)))
            elif name.startswith("test_"):
                each()

    found = codecs()
    assert len(found) > 50
    assert [name for name, each in found.items() if id(each) not in used] == []
