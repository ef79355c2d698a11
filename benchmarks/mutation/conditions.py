"""Find where the product's source creates conditions, and read their texts where possible."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from benchmarks.mutation.source import Definition, Function, Module, Source

EQUALS: Final = "spinneret.aws.dynamo.equals"
_CONDITION: Final = re.compile(r"(Final\[)?(\w+\.)?Condition( \| None)?\]?")
_WRITE: Final = "TransactWriteItemTypeDef"
_UNKNOWN: Final = "…"  # placeholder for run-time values; they never contain AND or OR


class Conditions:
    """Analysis of expressions that evaluate to a condition."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def made_by(self, module: Module, node: ast.AST) -> Definition | None:
        """Return the constant or function that gives a condition here, by name or by a call."""
        match node:
            case ast.Call(func=func):
                found = self._source.meant_by(module, func)
                is_right = found is not None and isinstance(found.node, Function)
            case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
                found = self._source.meant_by(module, node)
                is_right = found is not None and not isinstance(found.node, Function)
            case _:
                return None
        return found if found and is_right and is_condition(found.annotation) else None

    def passed_to(self, module: Module, call: ast.Call) -> Iterator[ast.expr]:
        """Yield the arguments for parameters that are conditions.

        An update expression with its values has the same type; its name distinguishes it.
        """
        found = self._source.meant_by(module, call.func)
        if found is None or not isinstance(found.node, Function):
            return
        given = found.node.args
        names = [each.arg for each in (*given.posonlyargs, *given.args)]
        if names[:1] in (["self"], ["cls"]):
            del names[0]
        taken = {
            each.arg
            for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)
            if each.annotation is not None
            and is_condition(ast.unparse(each.annotation))
            and not each.arg.startswith("update")
        }
        yield from (value for name, value in zip(names, call.args, strict=False) if name in taken)
        yield from (each.value for each in call.keywords if each.arg in taken)

    def alternatives(self, module: Module, expression: ast.expr) -> list[ast.expr]:
        """Return the expressions that can give the value: branches, and values of a local."""
        match expression:
            case ast.Constant(value=None):
                return []
            case ast.IfExp(body=body, orelse=other):
                return self.alternatives(module, body) + self.alternatives(module, other)
            case ast.BoolOp(values=values):
                return [leaf for value in values for leaf in self.alternatives(module, value)]
            case ast.Name(id=name):
                values = assigned(module, expression, name)
                leaves = [leaf for value in values for leaf in self.alternatives(module, value)]
                return leaves if len(leaves) > 1 else [expression]
            case _:
                return [expression]

    def text_of(self, module: Module, expression: ast.expr) -> str | None:
        """Return the resulting condition expression; None if the source doesn't show it."""
        match expression:
            case ast.Tuple(elts=[first, _]):
                return self.text_of(module, first)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                texts = self.text_of(module, left), self.text_of(module, right)
                return texts[0] + texts[1] if texts[0] and texts[1] else None
            case ast.Call():
                return self._text_of_call(module, expression)
            case ast.Name() | ast.Attribute():
                return self._text_of_name(module, expression)
            case _:
                return _text_of_string(expression)

    def text_of_function(self, function: Definition) -> str | None:
        """Return the text of the condition that a function returns; None for several returns."""
        match returned(function):
            case [only]:
                return self.text_of(function.module, only)
            case _:
                return None

    def _text_of_call(self, module: Module, call: ast.Call) -> str | None:
        function = self.made_by(module, call)
        if function is None:
            return None
        if function.dotted == EQUALS:
            names = self._names_given(module, call)
            return " AND ".join(f"#{name} = :is_{name}" for name in names) or None
        return self.text_of_function(function)

    def _text_of_name(self, module: Module, name: ast.Name | ast.Attribute) -> str | None:
        if isinstance(name, ast.Name) and _is_local(module, name):
            value = value_of(module, name)
            return self.text_of(module, value) if value is not None else None
        constant = self._source.meant_by(module, name)
        if constant is None or isinstance(constant.node, Function):
            return None
        return self.text_of(constant.module, constant.node)

    def _names_given(self, module: Module, call: ast.Call) -> list[str]:
        """Return the attributes of an `equals`; empty if one of them is unknown."""
        names: list[str] = []
        for each in call.keywords:
            if each.arg is not None:
                names.append(each.arg)
                continue
            spread = self._keys_of(module, each.value)
            if not spread:
                return []
            names += spread
        return names

    def _keys_of(self, module: Module, mapping: ast.expr) -> list[str]:
        match mapping:
            case ast.Dict(keys=keys):
                return _texts(keys)
            case ast.DictComp(
                key=ast.Name(id=key),
                generators=[ast.comprehension(target=ast.Name(id=target), iter=items, ifs=[])],
            ) if key == target:
                return self._items_of(module, items)
            case _:
                return []

    def _items_of(self, module: Module, items: ast.expr) -> list[str]:
        match items:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return _texts(elements)
            case ast.Name():
                if _is_local(module, items):
                    value = value_of(module, items)
                    return self._items_of(module, value) if value is not None else []
                constant = self._source.meant_by(module, items)
                if constant is None or isinstance(constant.node, Function):
                    return []
                return self._items_of(constant.module, constant.node)
            case _:
                return []


def is_condition(annotation: str) -> bool:
    """Return whether an annotation is the type of a condition."""
    return _CONDITION.fullmatch(annotation) is not None


def is_guarded_write(definition: Definition) -> bool:
    """Return whether a function returns a transaction's write with a condition of its own."""
    function = definition.node
    if not isinstance(function, Function) or definition.annotation != _WRITE:
        return False
    annotations = (each.annotation for each in ast.walk(function.args) if isinstance(each, ast.arg))
    return not any(note and is_condition(ast.unparse(note)) for note in annotations)


def returned(function: Definition) -> list[ast.expr]:
    """Return the expressions that a function itself returns, without its nested functions."""
    return [
        node.value
        for node in ast.walk(function.node)
        if isinstance(node, ast.Return)
        and node.value is not None
        and function.module.function_of(node) is function.node
    ]


def assigned(module: Module, near: ast.expr, name: str) -> list[ast.expr]:
    """Return the values of a local in the function around `near`.

    The list is empty if anything but an assignment sets the local.
    """
    function = module.function_of(near)
    values: list[ast.expr] = []
    bindings = 0
    for node in ast.walk(function) if function else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                values.append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                values += [value] if target == name else []
            case ast.arg(arg=target) if target == name:
                bindings += 1
            case ast.Name(id=target, ctx=ast.Store()) if target == name:
                bindings += 1
    return values if len(values) == bindings else []


def value_of(module: Module, name: ast.Name) -> ast.expr | None:
    """Return the value of a local that is set only once; None for others."""
    values = assigned(module, name, name.id)
    return values[0] if len(values) == 1 else None


def _is_local(module: Module, name: ast.Name) -> bool:
    function = module.function_of(name)
    return function is not None and any(
        (isinstance(node, ast.arg) and node.arg == name.id)
        or (isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Store))
        for node in ast.walk(function)
    )


def _text_of_string(expression: ast.expr) -> str | None:
    match expression:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            parts = (each.value if isinstance(each, ast.Constant) else _UNKNOWN for each in values)
            return "".join(map(str, parts))
        case _:
            return None


def _texts(nodes: list[ast.expr] | list[ast.expr | None]) -> list[str]:
    """Return the constant strings; empty if a node is anything else."""
    texts = [node.value if isinstance(node, ast.Constant) else None for node in nodes]
    found = [text for text in texts if isinstance(text, str)]
    return found if len(found) == len(nodes) else []
