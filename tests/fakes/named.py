"""Rows with names in memory, for every port whose rows have unique names."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spinneret.kernel.errors import Conflict
from tests.fakes.dependency import FakeDependency


class Named(Protocol):
    """Fields that the rows of such a port have."""

    @property
    def tenant(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...


class FakeNamedStore[R: Named](FakeDependency):
    """Implements the stores of named rows; `page_of` returns a page of the port's own type."""

    def __init__(self, page_of: Callable[[tuple[R, ...], str | None], Any]) -> None:
        self.references: Counter[tuple[str, str]] = Counter()
        """Number of references to a row, by tenant and id."""
        self._page_of = page_of
        self.held: dict[tuple[str, str], int] = {}
        """Number of things that a row counts, such as the documents of a collection, by tenant and
        id. A row can be removed only if it is 0."""
        self._rows: dict[tuple[str, str], R] = {}

    def add(self, row: R) -> None:
        self._require_free_name(row)
        self._rows[row.tenant, row.id] = row

    def get(self, tenant: str, row_id: str) -> R | None:
        self._require()
        return self._rows.get((tenant, row_id))

    def find(self, tenant: str, name: str) -> R | None:
        self._require()
        return next((row for row in self._of(tenant) if row.name == name), None)

    def many(self, tenant: str, row_ids: Sequence[str]) -> tuple[R, ...]:
        self._require()
        return tuple(row for row in self._of(tenant) if row.id in row_ids)

    def counts(self, tenant: str, row_ids: Sequence[str]) -> dict[str, int]:
        self._require()
        return {each: self.held.get((tenant, each), 0) for each in row_ids}

    def page(self, tenant: str, after: str | None, limit: int) -> Any:
        self._require()
        found = sorted(
            (row for row in self._of(tenant) if after is None or row.id < after),
            key=lambda row: row.id,
            reverse=True,
        )
        shown = tuple(found[:limit])
        return self._page_of(shown, shown[-1].id if len(found) > limit else None)

    def replace(self, former: R, row: R) -> bool:
        if not self._stands(former):
            return False
        self._require_free_name(row)
        self._rows[row.tenant, row.id] = row
        return True

    def remove(self, row: R) -> bool:
        if not self._stands(row):
            return False
        if self.references[row.tenant, row.id]:
            raise Conflict("the row is in use")
        if self.held.get((row.tenant, row.id), 0):
            raise Conflict("the row is in use")
        del self._rows[row.tenant, row.id]
        return True

    def _stands(self, row: R) -> bool:
        self._require()
        standing = self._rows.get((row.tenant, row.id))
        return standing is not None and standing.version == row.version

    def _of(self, tenant: str) -> list[R]:
        return [row for row in self._rows.values() if row.tenant == tenant]

    def _require_free_name(self, row: R) -> None:
        self._require()
        if any(each.name == row.name and each.id != row.id for each in self._of(row.tenant)):
            raise Conflict.of_field("name", "another row has this name")
