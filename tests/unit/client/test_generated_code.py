"""The generated code matches the API document and shares no code with the functions."""

# covers L-01
import ast
import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from spinneret_client import AsyncSpinneret, Spinneret
from tests.conftest import ROOT

PACKAGE = ROOT / "clients" / "python"
SOURCES = PACKAGE / "src" / "spinneret_client"
MOST_LINES = 4000


def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("spinneret_generate", PACKAGE / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module here
    spec.loader.exec_module(module)
    return module


def test_the_generated_code_matches_the_api_document() -> None:
    generator = _generator()
    expected = generator.generated(generator.DOCUMENT.read_text())
    found = {path.name: path.read_text() for path in generator.TARGET.glob("*.py*")}
    assert found == expected, "run .venv/bin/python docs/render.py"


def test_the_generated_code_stays_small() -> None:
    lines = sum(
        len(path.read_text().splitlines()) for path in (SOURCES / "generated").glob("*.py*")
    )
    assert lines <= MOST_LINES


def test_every_resource_is_on_both_clients_with_the_same_methods() -> None:
    classes = _classes(SOURCES / "generated" / "resources.py")
    stubs = _classes(SOURCES / "generated" / "async_resources.pyi")
    assert classes == stubs
    clients: list[Any] = [Spinneret("https://x", "k"), AsyncSpinneret("https://x", "k")]
    for client in clients:
        bound = [value for value in vars(client).values() if hasattr(value, "_transport")]
        names = {base.__name__ for each in bound for base in inspect.getmro(type(each))}
        assert classes.keys() <= names
    ours, theirs = (
        {name: _public(value) for name, value in vars(each).items() if hasattr(value, "_transport")}
        for each in clients
    )
    assert ours == theirs


def test_the_page_of_the_client_lists_every_resource() -> None:
    text = (ROOT / "docs" / "client.md").read_text().partition("## Resources\n\n`")[2]
    bound = vars(Spinneret("https://x", "k")).items()
    names = [name for name, value in bound if hasattr(value, "_transport")]
    assert text.partition("`")[0].split() == sorted(names)


def test_the_client_shares_no_code_with_the_functions() -> None:
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert all(name.partition(".")[0] != "spinneret" for name in names), path


def _classes(path: Path) -> dict[str, set[str]]:
    return {
        node.name: {
            each.name
            for each in node.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    }


def _public(value: object) -> set[str]:
    return {name for name in dir(value) if not name.startswith("_")}
