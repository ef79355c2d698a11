"""Remove each condition of the product's writes, and each part of one, by an edit of the source."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.mutation.conditions import (
    EQUALS,
    Conditions,
    is_condition,
    is_guarded_write,
    returned,
    value_of,
)
from benchmarks.mutation.expressions import weakenings
from benchmarks.mutation.source import Definition, Function, Module, Source, annotation_of

_KEY: Final = "ConditionExpression"
_GUARD: Final = "Guard"
_WEAKENED: Final = '__import__("benchmarks.mutation.expressions", fromlist=["weakened"]).weakened'


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A file in which one condition lacks a part."""

    name: str
    """Name in the form `file:function: dropped part`."""
    path: str
    """Path relative to the root."""
    span: tuple[int, int]
    """Byte range of the edited source."""
    edit: str
    """Replacement text, with `{}` for the original text."""

    def applied_to(self, source: bytes) -> bytes:
        """Return the source of the file with the edit."""
        start, end = self.span
        before, _, after = self.edit.encode().partition(b"{}")
        kept = source[start:end] if "{}" in self.edit else b""
        return source[:start] + before + kept + after + source[end:]


@dataclass(frozen=True, kw_only=True)
class _Site:
    """An expression that evaluates to a condition, or a write that has one."""

    module: Module
    node: ast.expr
    context: str
    text: str | None


def mutants(root: Path) -> list[Mutant]:
    """Return all mutants in the order of the source, each with a unique name."""
    source = Source(root)
    found = [mutant for site in _Sites(source).all() for mutant in _mutants_of(site)]
    found += _without_guards(source)
    order = {module.path: number for number, module in enumerate(source.modules)}
    found.sort(key=lambda mutant: (order[mutant.path], mutant.span))
    seen: Counter[str] = Counter()
    unique = []
    for mutant in found:
        seen[mutant.name] += 1
        again = f" ({seen[mutant.name]})" if seen[mutant.name] > 1 else ""
        unique.append(replace(mutant, name=mutant.name + again))
    return unique


def _mutants_of(site: _Site) -> Iterator[Mutant]:
    try:
        dropped = [each.dropped for each in weakenings(site.text or "")]
        count: int | None = len(dropped)
    except ValueError:
        dropped, count = ["whole"], None
    for number, what in enumerate(dropped):
        yield Mutant(
            name=": ".join(filter(None, (_place(site.module, site.node), site.context, what))),
            path=site.module.path,
            span=site.module.span_of(site.node),
            edit=f"{_WEAKENED}(({{}}), {number}, {count})",
        )


def _without_guards(source: Source) -> Iterator[Mutant]:
    """Yield a mutant without each guard: a term of a condition that is built at run time."""
    for module in source.modules:
        for node in module.nodes:
            made = source.meant_by(module, node.func) if isinstance(node, ast.Call) else None
            if made is None or made.annotation != _GUARD or not isinstance(node, ast.Call):
                continue
            for span, edit in _removals(module, node):
                yield Mutant(
                    name=f"{_place(module, node)}: {' '.join(ast.unparse(node).split())}",
                    path=module.path,
                    span=span,
                    edit=edit,
                )


def _removals(module: Module, guard: ast.expr) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the byte range and the replacement text for each use of the guard.

    Raises NotImplementedError if a use has another form.
    """
    match module.parent_of(guard):
        case ast.Tuple() | ast.List():
            yield module.span_of(guard), "*()"
        case ast.Call(func=ast.Attribute(attr="append")) as call:
            yield module.span_of(call), "None"
        case ast.Assign(targets=[ast.Name(id=name)]):
            for node in ast.walk(module.function_of(guard) or module.tree):
                if (
                    isinstance(node, ast.Name)
                    and node.id == name
                    and isinstance(node.ctx, ast.Load)
                ):
                    yield from _removals(module, node)
        case _:
            raise NotImplementedError(f"{_place(module, guard)}: a guard that can't be taken out")


def _place(module: Module, node: ast.AST) -> str:
    function = module.function_of(node)
    return f"{module.shown}:{function.name if function else '<module>'}"


class _Sites:
    """All sites; a condition with a name, from a function or a constant, counts at each use."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._conditions = Conditions(source)
        self._claimed: set[ast.AST] = set()
        self._inside: set[ast.AST] = set()
        """Functions whose calls are the sites."""

    def all(self) -> list[_Site]:
        sites = [site for each in self._source.definitions.values() for site in self._uses(each)]
        for module in self._source.modules:
            for context, position in self._positions(module):
                sites += self._at(module, context, position)
        for module in self._source.modules:
            sites += self._elsewhere(module)
        return sites

    def _uses(self, definition: Definition) -> Iterator[_Site]:
        """Yield the calls of a function that returns guarded writes as sites.

        There is no site if the only call is in the function's own module.
        """
        if not is_guarded_write(definition):
            return
        calls = list(self._source.calls_of(definition))
        if all(module is definition.module for module, _ in calls) and len(calls) < 2:
            return
        leaves = [
            leaf
            for _, position in self._positions(definition.module)
            if definition.module.function_of(position) is definition.node
            for leaf in self._conditions.alternatives(definition.module, position)
        ]
        text = self._conditions.text_of(definition.module, leaves[0]) if len(leaves) == 1 else None
        if text is not None:
            self._inside.add(definition.node)
        for module, call in calls:
            yield _Site(module=module, node=call, context=definition.name, text=text)

    def _positions(self, module: Module) -> Iterator[tuple[str, ast.expr]]:
        """Yield the expressions that are used as conditions, each with the name of its use."""
        for node in module.nodes:
            match node:
                case ast.Call(func=func, keywords=keywords):
                    taken = [each.value for each in keywords if each.arg == _KEY]
                    taken += self._conditions.passed_to(module, node)
                    yield from ((_last_name(func), each) for each in taken)
                case ast.Dict(keys=keys, values=values):
                    for key, value in zip(keys, values, strict=True):
                        if isinstance(key, ast.Constant) and key.value == _KEY:
                            yield "", value
                case ast.Assign(
                    targets=[ast.Subscript(slice=ast.Constant(value=key))], value=value
                ) if key == _KEY:
                    yield "", value
        for definition in self._source.definitions.values():
            if definition.module is module and self._is_one_of_several(definition):
                yield from (("returned", each) for each in returned(definition))

    def _is_one_of_several(self, definition: Definition) -> bool:
        """Return whether a function returns a condition that its calls don't show."""
        return (
            isinstance(definition.node, Function)
            and is_condition(definition.annotation)
            and definition.dotted != EQUALS
            and self._conditions.text_of_function(definition) is None
        )

    def _at(self, module: Module, context: str, position: ast.expr) -> Iterator[_Site]:
        if module.function_of(position) in self._inside:
            return
        for leaf in self._conditions.alternatives(module, position):
            if leaf in self._claimed:
                continue
            self._claimed.add(leaf)
            origin = self._origin(module, leaf)
            yield _Site(
                module=module,
                node=leaf,
                context=" ".join(filter(None, (context, origin))),
                text=self._conditions.text_of(module, leaf),
            )

    def _origin(self, module: Module, leaf: ast.expr) -> str:
        """Return the name of the function or constant that gives a condition; empty without one."""
        node = leaf
        if isinstance(leaf, ast.Name) and (value := value_of(module, leaf)) is not None:
            self._claimed.add(value)
            node = value
        made = self._conditions.made_by(module, node)
        return made.name if made and made.dotted != EQUALS else ""

    def _elsewhere(self, module: Module) -> Iterator[_Site]:
        """Yield the sites of conditions whose use isn't traced: the places that create them."""
        for node in module.nodes:
            if not isinstance(node, ast.expr) or node in self._claimed:
                continue
            made = self._conditions.made_by(module, node)
            if made is None or self._is_one_of_several(made):
                continue
            around = module.function_of(node)
            if around in self._inside or (around and is_condition(annotation_of(around))):
                continue
            yield from self._at(module, "", node)


def _last_name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]
