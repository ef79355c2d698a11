"""JSON Schemas of the document: pydantic's, without noise and with the fields' docstrings."""

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Final

from pydantic import BaseModel

from spinneret.runtime.openapi.common_fields import COMMON

_ORIGIN: Final = re.compile(r' \(([A-Z]+-\d+|ruling "[^"]+")\)')
_DATA: Final = frozenset({"default", "enum", "const", "examples"})


def tidied(schema: Any) -> Any:
    """Remove titles that repeat names, and origins of rules; write whole numbers as integers."""
    if isinstance(schema, list):
        return [tidied(each) for each in schema]
    if isinstance(schema, float) and schema.is_integer():
        return int(schema)
    if isinstance(schema, str):
        return without_origins(schema)
    if not isinstance(schema, dict):
        return schema
    return {
        name: value if name in _DATA else tidied(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str))
    }


def without_origins(text: str) -> str:
    """Remove the origins of rules in the code, which API callers don't need."""
    return _ORIGIN.sub("", text)


def without_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without null: an omitted parameter isn't null."""
    kept = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(kept) != 1:
        return dict(schema)
    return {**kept[0], **{name: value for name, value in schema.items() if name != "anyOf"}}


def with_notes(schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return schemas by name, with the fields' docstrings as their descriptions.

    Fields without one get the common description of their name.
    """
    notes = {model.__name__: _notes(model) for model in _models(BaseModel)}
    return {name: _described(schema, notes.get(name, {})) for name, schema in schemas.items()}


def _described(schema: Mapping[str, Any], notes: Mapping[str, str]) -> dict[str, Any]:
    if "properties" not in schema:
        return dict(schema)
    found = {**COMMON, **notes}
    properties = {
        name: {**value, "description": without_origins(found[name])} if name in found else value
        for name, value in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the loaded models of our own code."""
    for model in base.__subclasses__():
        if model.__module__.startswith("spinneret."):
            yield model
        yield from _models(model)


def _notes(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of a model's own and inherited fields."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__):
        # `ListOf[JobView]` has source only as `ListOf`, which is also in the MRO.
        if each.__module__.startswith("spinneret.") and "[" not in each.__name__:
            found |= _own_notes(each)
    return found


def _own_notes(model: type) -> Mapping[str, str]:
    body = _classes(model.__module__)[model.__name__].body
    found: dict[str, str] = {}
    for field, after in pairwise(body):
        match field, after:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = inspect.cleandoc(text)
    return found


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    """Return the definitions of a module's classes by name."""
    # Once for a module: `inspect.getsource` of a class parses its whole module.
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}
