from typing import Protocol

from spinneret.kernel.paging import Page


class Row(Protocol):
    @property
    def tenant(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int: ...


class FakeRows[T: Row]:
    """Implements RowStore."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], T] = {}

    def add(self, row: T) -> None:
        assert (row.tenant, row.id) not in self.rows
        self.rows[row.tenant, row.id] = row

    def get(self, tenant: str, row_id: str) -> T | None:
        return self.rows.get((tenant, row_id))

    def page(self, tenant: str, after: str | None, limit: int) -> Page[T]:
        mine = [each for each in self.rows.values() if each.tenant == tenant]
        found = sorted(mine, key=lambda each: each.id, reverse=True)
        left = [each for each in found if after is None or each.id < after]
        return Page.cut(left, limit, lambda each: each.id)

    def replace(self, former: T, row: T) -> bool:
        if not self._stands(former):
            return False
        self.rows[row.tenant, row.id] = row
        return True

    def remove(self, row: T) -> bool:
        if not self._stands(row):
            return False
        del self.rows[row.tenant, row.id]
        return True

    def _stands(self, row: T) -> bool:
        standing = self.get(row.tenant, row.id)
        return standing is not None and standing.version == row.version
