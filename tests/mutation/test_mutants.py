"""Every way in which a condition is given is found, and named for what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.mutants import mutants

ADAPTER = """
Condition = tuple

def equals(**attributes: object) -> Condition: ...
def put(table: str, item: dict, condition: Condition | None = None) -> TransactWriteItemTypeDef:
    ...
def change(
    table: str, key: dict, update_expression: Condition, condition: Condition
) -> TransactWriteItemTypeDef: ...
def check(table: str, key: dict, condition: Condition) -> TransactWriteItemTypeDef: ...
"""
PREAMBLE = """
from spinneret.aws import dynamo
from spinneret.aws.dynamo import put as write
_NEW: Final[dynamo.Condition] = ("attribute_not_exists(#pk)", {})
_READY = "#a = :a AND #b = :b"
_NAMES = ("x", "y")
"""
SHAPES = """
= a keyword
def f(client): client.put_item(ConditionExpression="#a = :a")
> f: put_item: #a = :a

= a key of a dict
def f(): return {"ConditionExpression": "#a = :a"}
> f: #a = :a

= an assignment
def f(request): request["ConditionExpression"] = _READY
> f: whole
> f: #a = :a
> f: #b = :b

= no condition
def f(client):
    dynamo.put(1, 2)
    client.query(KeyConditionExpression="#a = :a")

= an update
def f():
    dynamo.change(1, 2, ("ADD #watchers :one", {}), _NEW)
> f: change _NEW: attribute_not_exists(#pk)

= a constant
def f(): dynamo.put(1, 2, _NEW)
> f: put _NEW: attribute_not_exists(#pk)

= an alias
def f(): write(1, 2, condition=_NEW)
> f: write _NEW: attribute_not_exists(#pk)

= the attributes of an equality
def f(): dynamo.check(1, 2, dynamo.equals(a=1, b=None))
> f: check: whole
> f: check: a
> f: check: b

= attributes by name
def f(row): dynamo.check(1, 2, dynamo.equals(**{name: row[name] for name in _NAMES}))
> f: check: whole
> f: check: x
> f: check: y

= attributes that the source doesn't show
def f(row): dynamo.check(1, 2, dynamo.equals(**row))
> f: check: whole

= branches
def f(old): dynamo.put(1, 2, _NEW if old is None else dynamo.equals(id=old))
> f: put _NEW: attribute_not_exists(#pk)
> f: put: id

= a local with branches
def f(old):
    free = _NEW if old is None else dynamo.equals(id=old)
    dynamo.put(1, 2, free)
> f: put _NEW: attribute_not_exists(#pk)
> f: put: id

= a local that is used twice
def f():
    own = dynamo.equals(id=1)
    return [dynamo.put(1, 2, own), dynamo.check(1, 2, own)]
> f: put: id
> f: check: id

= a function that is used twice
def own(now) -> dynamo.Condition: return "#a = :a", {}
def f(): dynamo.put(1, 2, own(1))
def g(): dynamo.put(1, 2, own(2))
> f: put own: #a = :a
> g: put own: #a = :a

= a function of several conditions
def own(now) -> dynamo.Condition: return _NEW if now else ("#a = :a", {})
def f(): dynamo.put(1, 2, own(1))
> own: returned _NEW: attribute_not_exists(#pk)
> own: returned: #a = :a
> f: put own: whole

= a parameter
class Store:
    def _write(self, item, condition: dynamo.Condition): dynamo.put(1, item, condition)
    def f(self): self._write(1, _NEW)
> _write: put: whole
> f: _write _NEW: attribute_not_exists(#pk)

= a write that is used twice
def held() -> TransactWriteItemTypeDef: return dynamo.check(1, 2, dynamo.equals(a=1, b=2))
def f(): return [held()]
def g(): return [held()]
> f: held: whole
> f: held: a
> f: held: b
> g: held: whole
> g: held: a
> g: held: b

= a write that is used once
def held() -> TransactWriteItemTypeDef: return dynamo.check(1, 2, dynamo.equals(a=1))
def f(): return [held()]
> held: check: a

= a way that isn't followed
def f(): text, values = dynamo.equals(a=1, b=2)
> f: whole
> f: a
> f: b

= the same twice
def f(): return [dynamo.put(1, 2, _NEW), dynamo.put(1, 3, _NEW)]
> f: put _NEW: attribute_not_exists(#pk)
> f: put _NEW: attribute_not_exists(#pk) (2)

= text with a gap
def f(client, name): client.put_item(ConditionExpression=f"#{name} = :a AND #b = :ü")
> f: put_item: whole
> f: put_item: #… = :a
> f: put_item: #b = :ü

= guards
def over(name) -> Guard: ...
def f(more):
    last = over("c")
    more.append(over("b"))
    return (over("a"), last)
> f: over('c')
> f: over('b')
> f: over('a')
"""


def _parsed(shape: str) -> tuple[str, list[str]]:
    """The code, and the names of its mutants."""
    lines = shape.splitlines()
    code = [line for line in lines if not line.startswith("> ")]
    return "\n".join(code), [line[2:] for line in lines if line.startswith("> ")]


CASES = {
    name: _parsed(shape)
    for name, _, shape in (each.partition("\n") for each in SHAPES.split("\n= ")[1:])
}


def tree(root: Path, code: str) -> Path:
    """A product of one adapter and one module."""
    package = root / "layers" / "common" / "spinneret"
    for name, text in {"adapters/dynamo.py": ADAPTER, "m/dynamo.py": PREAMBLE + code}.items():
        (package / name).parent.mkdir(parents=True)
        (package / name).write_text(text)
    return root


@pytest.mark.parametrize("shape", list(CASES))
def test_a_condition_is_found_in_every_shape(tmp_path: Path, shape: str) -> None:
    code, names = CASES[shape]
    found = mutants(tree(tmp_path, code))
    assert sorted(each.name for each in found) == sorted(f"m/dynamo.py:{name}" for name in names)


@pytest.mark.parametrize("shape", list(CASES))
def test_every_mutant_is_a_program_of_its_own(tmp_path: Path, shape: str) -> None:
    code, names = CASES[shape]
    root = tree(tmp_path, code)
    edited = set()
    for mutant in mutants(root):
        source = mutant.applied_to((root / mutant.path).read_bytes())
        compile(source, mutant.path, "exec")
        edited.add(source)
    assert len(edited) == len(names)


def test_a_guard_that_cannot_be_taken_out_is_told(tmp_path: Path) -> None:
    code = "def over(name) -> Guard: ...\ndef f(): return over('a')"
    with pytest.raises(NotImplementedError, match="f: a guard"):
        mutants(tree(tmp_path, code))
