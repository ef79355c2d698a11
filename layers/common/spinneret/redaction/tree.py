"""Values of any depth: what stands under a secret's name goes, all texts are scanned.

The walk keeps its own stack of generators, so depth costs memory instead of Python's stack, and
remembers what it has copied, so a value that is met twice costs once.
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import Generator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from spinneret.redaction import leaves, names, nested, siblings, verdicts
from spinneret.redaction.failures import described
from spinneret.redaction.leaves import UNREADABLE
from spinneret.redaction.scanning import scan
from spinneret.redaction.spans import MARK

CIRCULAR: Final = "[circular]"
"""Stands where a value contains itself."""
TOO_DEEP: Final = "[too deep]"
"""Stands for what lies below the deepest level that is walked."""

_DEPTH: Final = 10_000  # levels
_PASSES: Final = 3  # what one replacement brings to light, the next pass sees …
_LARGE: Final = 20_000  # … but for texts of more characters, which get one
_SHORT_KEY: Final = 64  # characters of a key that is worth remembering
_VERBATIM: Final = re.compile(r"[ !#-\[\]-~]*")  # what JSON writes without escapes
_NESTED: Final = 3  # JSON in JSON is parsed so deep; deeper it is still scanned


class _Visit(NamedTuple):
    """A value to copy: `hidden` below a secret's name, `owner` is the name that announces it."""

    value: Any
    hidden: bool
    owner: str


_Copying = Generator[_Visit, Any, Any]


def redact(value: Any) -> Any:
    """A copy without secrets, of the same shape; an exception becomes its text. Never raises."""
    try:
        return _Walk(0).copy(value)
    except Exception:  # noqa: BLE001 (reporting must not fail; nothing of the value is shown)
        return UNREADABLE


def redact_text(text: str) -> str:
    """A text without secrets, however they are quoted or encoded in it. Never raises."""
    try:
        return _clean(text, 0)
    except Exception:  # noqa: BLE001 (as above)
        return UNREADABLE


def _clean(text: str, level: int = 0) -> str:
    for _ in range(_PASSES if level == 0 and len(text) <= _LARGE else 1):
        clean = scan(text)
        if level < _NESTED and ('"' in clean or "'" in clean):
            clean = nested.in_documents(clean, _Walk(level + 1).copy)
        if clean == text:
            break
        text = clean
    return text


@lru_cache(maxsize=4096)
def _clean_key(key: str) -> str:
    return _clean(key)


class _Walk:
    """One pass over one value, which is `level` texts deep in another."""

    def __init__(self, level: int) -> None:
        self._level = level
        self._copied: dict[tuple[int, bool, str], tuple[Any, Any]] = {}  # keeps sources alive
        self._open: set[int] = set()

    def copy(self, root: Any) -> Any:
        """Depth first; a part whose own code fails becomes UNREADABLE."""
        if _is_leaf(root):
            return self._leaf(root, hidden=False)
        stack = [self._visit(_Visit(root, False, ""))]
        answer: Any = None
        while stack:
            try:
                request = stack[-1].send(answer)
            except StopIteration as done:
                answer = done.value
                stack.pop()
            except Exception:  # noqa: BLE001 (foreign code of an odd object)
                answer = UNREADABLE
                stack.pop()
            else:
                answer = None
                if len(stack) < _DEPTH:
                    stack.append(self._visit(request))
                else:
                    stack.append(_answer(TOO_DEEP))
        return answer

    def _visit(self, visit: _Visit) -> _Copying:
        key = (id(visit.value), visit.hidden, visit.owner)
        if key in self._copied:
            return self._copied[key][1]
        if id(visit.value) in self._open:
            return CIRCULAR
        self._open.add(id(visit.value))
        try:
            result = yield from self._parts(visit)
        finally:
            self._open.discard(id(visit.value))
        self._copied[key] = (visit.value, result)
        return result

    def _parts(self, visit: _Visit) -> _Copying:
        value = visit.value
        if isinstance(value, Mapping):
            return self._mapping(visit)
        if isinstance(value, list | tuple | deque):
            return self._sequence(visit)
        if isinstance(value, set | frozenset):
            return _answer(type(value)([self._item(item, hidden=visit.hidden) for item in value]))
        return self._object(visit)

    def _mapping(self, visit: _Visit) -> _Copying:
        source = dict(visit.value.items())
        beside = siblings.hidden_fields(source)
        typed = verdicts.is_typed(source)
        result: dict[Any, Any] = {}
        for key, value in source.items():
            kind, name = verdicts.below(leaves.key_name(key), visit.owner, typed=typed)
            hidden = visit.hidden or key in beside or verdicts.hides(kind, value)
            new_key = self._key(key, hidden=visit.hidden)
            while new_key in result:  # two keys that were secrets
                new_key = f"{new_key}'"
            if _is_leaf(value):
                result[new_key] = self._leaf(value, hidden=hidden)
            else:
                result[new_key] = yield _Visit(value, hidden, name)
        return result

    def _sequence(self, visit: _Visit) -> _Copying:
        source = visit.value
        fields = getattr(source, "_fields", None)
        if isinstance(source, tuple) and isinstance(fields, tuple) and len(fields) == len(source):
            named = yield _Visit(dict(zip(fields, source, strict=True)), visit.hidden, visit.owner)
            return type(source)(*named.values())
        plain = [verdicts.untyped(item) for item in source]
        beside = siblings.hidden_places(plain)
        pairs = siblings.are_pairs(plain)
        kind = names.kind_of(visit.owner)
        result: list[Any] = []
        for place, item in enumerate(source):
            hidden = visit.hidden or place in beside or verdicts.hides(kind, item)
            if not hidden and pairs and siblings.is_secret_pair(plain[place]):
                result.append((yield from self._pair(item)))
            elif _is_leaf(item):
                result.append(self._leaf(item, hidden=hidden))
            else:
                result.append((yield _Visit(item, hidden, visit.owner)))
        return _rebuilt(source, result)

    def _pair(self, pair: Any) -> _Copying:
        """A secret behind its name."""
        if isinstance(pair, Mapping):  # typed by DynamoDB
            first, second = next(iter(pair.values()))
            return {"L": [(yield _Visit(first, False, "")), (yield _Visit(second, True, ""))]}
        (second,) = yield _Visit([pair[1]], True, "")
        return type(pair)((self._item(pair[0], hidden=False), second))

    def _object(self, visit: _Visit) -> _Copying:
        value = visit.value
        if visit.hidden:
            return MARK
        if dataclasses.is_dataclass(value):
            fields = {part.name: getattr(value, part.name) for part in dataclasses.fields(value)}
            clean = yield _Visit(fields, False, visit.owner)
            return value if clean == fields else clean
        return leaves.in_object(value, self._text)

    def _leaf(self, value: Any, *, hidden: bool) -> Any:
        if hidden:
            return leaves.mark_like(value)
        if type(value) is str:
            return self._text(value)
        if isinstance(value, str):
            return leaves.in_text(value, self._text)
        if isinstance(value, bytes | bytearray | memoryview):
            return leaves.in_bytes(value, self._text)
        if isinstance(value, BaseException):
            return self._text(described(value))
        return value

    def _item(self, value: Any, *, hidden: bool) -> Any:
        """A member of a set, or a key: hashable, so it holds no lists or mappings."""
        if _is_leaf(value):
            return self._leaf(value, hidden=hidden)
        return _Walk(self._level).copy(value) if not hidden else MARK

    def _key(self, key: Any, *, hidden: bool) -> Any:
        if hidden and isinstance(key, str) and not names.is_plain(key):
            return MARK
        if type(key) is str and len(key) <= _SHORT_KEY:
            return _clean_key(key)
        return self._item(key, hidden=False)

    def _text(self, text: str) -> str:
        if self._level and _VERBATIM.fullmatch(text):
            return text  # stood so in the text around it, which is scanned already
        return _clean(text, self._level)


def _answer(value: Any) -> _Copying:
    """A visit that knows its answer."""
    return value
    yield


def _is_leaf(value: Any) -> bool:
    return isinstance(value, leaves.LEAVES)


def _rebuilt(source: Any, items: list[Any]) -> Any:
    """The items in a sequence like the source; of a subclass only the base is copied."""
    if isinstance(source, list):
        return items
    return deque(items) if isinstance(source, deque) else tuple(items)
