"""Declarations of domains, found by the agreed name of a module in each domain.

This avoids a list of domains.
"""

import importlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

_PACKAGE: Final = "spinneret"
_DEPTH: Final = 2  # a domain is a group's package, or a group


def declared(file: str, attribute: str) -> Iterator[Any]:
    """Yield the value of `attribute` in each domain's module `file`, ordered by domain name.

    A module of that name without the attribute declares nothing.
    """
    for name in _declaring(file):
        module = importlib.import_module(name)
        if hasattr(module, attribute):
            yield getattr(module, attribute)


def _declaring(file: str) -> Iterator[str]:
    level = [(_PACKAGE, files(_PACKAGE))]
    for _ in range(_DEPTH):
        level = [
            (f"{name}.{child.name}", child)
            for name, folder in level
            for child in sorted(folder.iterdir(), key=lambda each: each.name)
            if child.is_dir() and child.name.isidentifier()
        ]
        for name, folder in level:
            if (folder / file).is_file():
                yield f"{name}.{file.removesuffix('.py')}"
