"""Syntax trees of the product's modules, and the definitions of their names."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

FOLDERS: Final = ("layers/common", "functions")
_PACKAGE: Final = "layers/common/spinneret/"

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, eq=False)
class Module:
    """A source file."""

    path: str
    """Path relative to the root."""
    dotted: str
    source: bytes
    tree: ast.Module

    @property
    def shown(self) -> str:
        """Path in the names of mutants."""
        return self.path.removeprefix(_PACKAGE)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, roughly in the order of the source."""
        return list(ast.walk(self.tree))

    @cached_property
    def imports(self) -> dict[str, str]:
        """Dotted names of imports by alias."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found |= {n.asname or n.name: f"{node.module}.{n.name}" for n in node.names}
            elif isinstance(node, ast.Import):
                found |= {n.asname: n.name for n in node.names if n.asname}
        return found

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost function around a node; None if there is none."""
        while found := self._parents.get(node):
            if isinstance(found, Function):
                return found
            node = found
        return None

    def parent_of(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node."""
        return self._parents.get(node)

    def span_of(self, node: ast.expr) -> tuple[int, int]:
        """Return the byte range of a node."""
        starts = [0]
        for line in self.source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )


@dataclass(frozen=True, eq=False)
class Definition:
    """A function, or the value of a module's constant."""

    module: Module
    name: str
    node: Function | ast.expr
    annotation: str

    @property
    def dotted(self) -> str:
        """Dotted name; that of a method doesn't have its class."""
        return f"{self.module.dotted}.{self.name}"


class Source:
    """All modules under a root, and their definitions by dotted name."""

    def __init__(self, root: Path) -> None:
        self.modules = [
            _module(root, folder, path)
            for folder in FOLDERS
            for path in sorted((root / folder).rglob("*.py"))
        ]
        self.definitions = {
            each.dotted: each for module in self.modules for each in _definitions(module)
        }

    def meant_by(self, module: Module, expression: ast.expr) -> Definition | None:
        """Return the product's definition of `name`, `self.name` or `module.name`, else None."""
        match expression:
            case ast.Name(id=name):
                dotted = module.imports.get(name, f"{module.dotted}.{name}")
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                dotted = f"{module.dotted}.{name}"
            case ast.Attribute(value=ast.Name(id=alias), attr=name):
                dotted = f"{module.imports.get(alias, alias)}.{name}"
            case _:
                return None
        return self.definitions.get(dotted)

    def calls_of(self, function: Definition) -> Iterator[tuple[Module, ast.Call]]:
        """Yield every call of a function, each with its module."""
        for module in self.modules:
            for node in module.nodes:
                if isinstance(node, ast.Call) and self.meant_by(module, node.func) is function:
                    yield module, node


def annotation_of(function: Function) -> str:
    """Return the annotation of a function's result; empty without one."""
    return ast.unparse(function.returns) if function.returns else ""


def _module(root: Path, folder: str, path: Path) -> Module:
    source = path.read_bytes()
    dotted = ".".join(path.relative_to(root / folder).with_suffix("").parts)
    relative = path.relative_to(root).as_posix()
    return Module(relative, dotted.removesuffix(".__init__"), source, ast.parse(source))


def _definitions(module: Module) -> Iterator[Definition]:
    for node in module.nodes:
        if isinstance(node, Function):
            yield Definition(module, node.name, node, annotation_of(node))
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield Definition(module, name, value, "")
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield Definition(module, name, value, ast.unparse(node.annotation))
