"""Traversal of values of any shape and depth.

The walk keeps its own stack of generators, so depth costs memory instead of Python's stack. It
caches copies, so a value that occurs twice is copied once.
"""

import dataclasses
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final, NamedTuple

from spinneret.redaction import context, leaves, names
from spinneret.redaction.spans import MARK

_CIRCULAR: Final = "[circular]"  # replaces a cyclic reference
_TOO_DEEP: Final = "[too deep]"  # replaces values below the maximum depth
_DEPTH: Final = 10_000  # levels
_LEADS: Final = {"netloc": "x://", "fragment": "#"} | dict.fromkeys(
    ("query", "query_string", "queryString", "rawQueryString"), "?"
)
"""Prefixes with which parts of a URL are recognised as such."""


class WalkNode(NamedTuple):
    """A value to copy; `hidden` if it is below a secret's name, which `owner` holds."""

    value: Any
    hidden: bool = False
    owner: str = ""
    paired: bool = False  # whether it is an item of a list of pairs


_Copying = Generator[WalkNode, Any, Any]


class Walk:
    """Copies a value; two functions return the copies of leaves and keys, given `hidden`."""

    def __init__(
        self, leaf: Callable[[Any, bool, str], Any], key: Callable[[Any, bool], Any]
    ) -> None:
        self._leaf = leaf  # its third argument is the prefix of the leaf's text
        self._key = key
        self._copied: dict[tuple[Any, ...], tuple[Any, Any]] = {}  # keeps sources and ids
        self._open: set[int] = set()

    def copy(self, root: Any, owner: str = "") -> Any:
        """Copy a value depth first. A part whose own code fails becomes UNREADABLE."""
        visit = WalkNode(root, context.hides(names.kind_of(owner), root), owner)
        if leaves.is_leaf(root):
            return self._leaf(root, visit.hidden, "")
        stack = [self._visit(visit)]
        answer: Any = None
        while stack:
            try:
                request = stack[-1].send(answer)
            except StopIteration as done:
                answer = done.value
                stack.pop()
            except Exception:  # noqa: BLE001 (foreign code may raise anything)
                answer = leaves.UNREADABLE
                stack.pop()
            else:
                answer = None
                deep = len(stack) >= _DEPTH
                stack.append(_answer(_TOO_DEEP) if deep else self._visit(request))
        return answer

    def _visit(self, visit: WalkNode) -> _Copying:
        identity = id(visit.value)
        key = (identity, *visit[1:])
        if key in self._copied:
            return self._copied[key][1]
        if identity in self._open:
            return _CIRCULAR
        self._open.add(identity)
        try:
            result = yield from self._parts(visit)
        finally:
            self._open.discard(identity)
        self._copied[key] = (visit.value, result)
        return result

    def _parts(self, visit: WalkNode) -> _Copying:
        value = visit.value
        if isinstance(value, Mapping):
            return self._mapping(visit)
        named = getattr(value, "_fields", None)
        if isinstance(value, tuple) and isinstance(named, tuple):
            return self._fields(visit, named)
        if isinstance(value, list | tuple | deque | set | frozenset):
            return self._items(visit)
        if dataclasses.is_dataclass(value) and not visit.hidden:
            return self._fields(visit, [field.name for field in dataclasses.fields(value)])
        result = self._leaf(value, visit.hidden, "")
        as_text = isinstance(result, str) and context.hides(names.kind_of(visit.owner), result)
        return _answer(leaves.mask_like(result) if as_text else result)

    def _mapping(self, visit: WalkNode) -> _Copying:
        source = dict(visit.value.items())
        beside = context.hidden_fields(source)
        typed = context.is_typed(source)
        result: dict[Any, Any] = {}
        for key, value in source.items():
            new_key = self._key(key, visit.hidden)
            kind, name = context.below(context.key_name(new_key), visit.owner, typed=typed)
            hidden = visit.hidden or key in beside or context.hides(kind, value)
            if not hidden and new_key != key:  # a redacted key counts by its original name, too
                kind, _ = context.below(context.key_name(key), visit.owner, typed=typed)
                hidden = context.hides(kind, value)
            while new_key in result:  # several keys may have been redacted to one text
                new_key = f"{new_key}'" if isinstance(new_key, str) else MARK
            if leaves.is_leaf(value):
                result[new_key] = self._leaf(value, hidden, _LEADS.get(key, ""))
            else:
                result[new_key] = yield WalkNode(value, hidden, name, typed and visit.paired)
        return result

    def _fields(self, visit: WalkNode, fields: Iterable[str]) -> _Copying:
        """Copy a dataclass or named tuple (such as `SplitResult`); return it unchanged if clean."""
        source = visit.value
        parts = {name: getattr(source, name) for name in fields}
        clean = yield WalkNode(parts, visit.hidden, visit.owner)
        if clean == parts:
            return source
        return type(source)(*clean.values()) if isinstance(source, tuple) else clean

    def _items(self, visit: WalkNode) -> _Copying:
        source, kind = visit.value, names.kind_of(visit.owner)
        beside, pairs = set[int](), False
        if not isinstance(source, set | frozenset):
            # An exception is shown as text, which a second pass would treat as a name.
            plain = [
                self._leaf(item, False, "")
                if isinstance(item, BaseException)
                else context.untyped(item)
                for item in source
            ]
            items = tuple(plain) if isinstance(source, tuple) else plain
            beside = context.hidden_places(items, paired=visit.paired)
            pairs = context.are_pairs(plain)
        result: list[Any] = []
        for place, item in enumerate(source):
            hidden = visit.hidden or place in beside or context.hides(kind, item)
            if leaves.is_leaf(item):
                result.append(self._leaf(item, hidden, ""))
            else:
                result.append((yield WalkNode(item, hidden, visit.owner, pairs)))
        for base in (deque, tuple, set, frozenset):  # subclasses are copied as their base
            if isinstance(source, base):
                return base(result)
        return result


def _answer(value: Any) -> _Copying:
    """Return a value as a generator that needs no further visits."""
    return value
    yield
