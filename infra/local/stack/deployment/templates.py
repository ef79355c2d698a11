"""Read CloudFormation templates: YAML with short intrinsic functions."""

from pathlib import Path
from typing import Any

import yaml


class _Loader(yaml.CSafeLoader):
    """Parses `!Ref x` as {"Ref": "x"} and `!Sub x` as {"Fn::Sub": "x"}."""


def _intrinsic(loader: _Loader, suffix: str, node: yaml.Node) -> Any:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    match node:
        case yaml.ScalarNode():
            value: Any = loader.construct_scalar(node)
            if suffix == "GetAtt":
                value = value.split(".", 1)
        case yaml.SequenceNode():
            value = loader.construct_sequence(node, deep=True)
        case _:
            assert isinstance(node, yaml.MappingNode)  # YAML has no fourth kind
            value = loader.construct_mapping(node, deep=True)
    return {name: value}


_Loader.add_multi_constructor("!", _intrinsic)


def load(path: Path) -> dict[str, Any]:
    """Return a template as plain values."""
    with path.open() as file:
        value: dict[str, Any] = yaml.load(file, Loader=_Loader)  # noqa: S506 - a SafeLoader
    return value
