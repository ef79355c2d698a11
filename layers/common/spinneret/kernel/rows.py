"""The port that stores of tenants' rows share."""

from typing import Protocol

from spinneret.kernel.paging import Page


class RowStore[T](Protocol):
    """Rows of one kind by tenant and id. All methods raise DependencyUnavailable.

    Stores whose rows have unique names say so; they refuse a name that is taken.
    """

    def add(self, row: T, /) -> None:
        """Store a new row. Raises Conflict if its name is taken."""

    def get(self, tenant: str, row_id: str, /) -> T | None:
        """Return the row (consistent read), or None."""

    def page(self, tenant: str, after: str | None, limit: int, /) -> Page[T]:
        """Return up to `limit` rows with ids before `after`, newest first."""

    def replace(self, former: T, row: T, /) -> bool:
        """Replace `former` by `row`; return False if it changed meanwhile.

        Raises Conflict if another row has the name.
        """

    def remove(self, row: T, /) -> bool:
        """Remove the row; return False if it changed meanwhile.

        Raises Conflict while other rows refer to it.
        """
