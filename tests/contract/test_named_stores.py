"""Contract tests of all stores of named rows: the fake, moto, and DynamoDB Local.

These tests run for each domain that has a file `tests/contract/named/<domain>.py`.
"""

import importlib
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from spinneret.kernel.errors import Conflict
from tests.contract.backends import OF_AWS, Tables
from tests.fakes.named import FakeNamedStore

pytestmark = OF_AWS

DOMAINS = sorted(
    path.stem for path in (Path(__file__).parent / "named").glob("*.py") if path.stem != "__init__"
)
_numbers = count()


@pytest.fixture(params=DOMAINS)
def domain(request: pytest.FixtureRequest) -> Any:
    """Provide a domain's module: `TABLE`, `STORE`, `page_of` and `row(tenant, id, name)`."""
    return importlib.import_module(f"tests.contract.named.{request.param}")


@pytest.fixture
def store(domain: Any, tables: Tables | None) -> Any:
    if tables is None:
        return FakeNamedStore(domain.page_of)
    return domain.STORE(tables.client, *(tables.names[each] for each in domain.TABLES))


@pytest.fixture
def new(domain: Any, tenant: str) -> Callable[..., Any]:
    """Provide a function that creates a row of the test's tenant, in the order of the calls."""

    def make(**given: Any) -> Any:
        number = next(_numbers)
        made = {"tenant": tenant, "row_id": f"id_{number:06}", "name": f"name {number}", **given}
        return domain.row(**made)

    return make


def changed(row: Any, **changes: Any) -> Any:
    return replace(row, version=row.version + 1, **changes)


def test_what_was_stored_is_read_back(store: Any, new: Callable[..., Any]) -> None:
    row = new()
    store.add(row)
    assert store.get(row.tenant, row.id) == row


def test_a_name_is_given_once(store: Any, new: Callable[..., Any]) -> None:
    row, other = new(name="silk"), new(name="silk")
    store.add(row)
    with pytest.raises(Conflict):
        store.add(other)
    assert store.get(other.tenant, other.id) is None


def test_names_of_another_tenant_are_free(store: Any, new: Callable[..., Any], tenant: str) -> None:
    store.add(new(name="silk"))
    other = new(name="silk", tenant=f"{tenant}-2")
    store.add(other)
    assert store.get(other.tenant, other.id) == other
    assert store.get(tenant, other.id) is None


def test_a_row_is_replaced_where_it_stands_as_it_was_read(
    store: Any, new: Callable[..., Any]
) -> None:
    row = new()
    store.add(row)
    assert store.replace(row, changed(row, name="other"))
    assert not store.replace(row, changed(row, name="late"))
    assert store.get(row.tenant, row.id).name == "other"


def test_a_new_name_is_taken_and_the_former_one_free(store: Any, new: Callable[..., Any]) -> None:
    row = new(name="before")
    store.add(row)
    store.replace(row, changed(row, name="after"))
    store.add(new(name="before"))
    with pytest.raises(Conflict):
        store.add(new(name="after"))


def test_a_taken_name_leaves_the_row_as_it_was(store: Any, new: Callable[..., Any]) -> None:
    row, other = new(), new()
    store.add(row)
    store.add(other)
    with pytest.raises(Conflict):
        store.replace(row, changed(row, name=other.name))
    assert store.get(row.tenant, row.id) == row


def test_what_is_removed_is_gone_and_its_name_free(store: Any, new: Callable[..., Any]) -> None:
    row = new(name="silk")
    store.add(row)
    assert not store.remove(changed(row))
    assert store.remove(row)
    assert not store.remove(row)
    assert store.get(row.tenant, row.id) is None
    store.add(new(name="silk"))


# covers P-16
def test_pages_are_newest_first_and_end(store: Any, new: Callable[..., Any], tenant: str) -> None:
    rows = [new() for _ in range(5)]
    for row in rows:
        store.add(row)
    pages, after = [], None
    for _ in range(3):
        page = store.page(tenant, after, 2)
        pages.append(page)
        after = page.after
    assert [page.after is None for page in pages] == [False, False, True]
    shown = [row for page in pages for row in vars(page)[next(iter(vars(page)))]]
    assert shown == rows[::-1]


def test_an_id_that_none_can_have_is_unknown(store: Any, tenant: str) -> None:
    assert store.get(tenant, "x" * 3000) is None
    assert store.get(tenant, "") is None
