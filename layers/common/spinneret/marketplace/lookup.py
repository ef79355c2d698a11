"""Look up what each marketplace has of its own."""

from collections.abc import Mapping

from spinneret.kernel.errors import NotFound


def of_marketplace[T](rows: Mapping[str, T], marketplace: str) -> T:
    """Return a marketplace's row. Raises NotFound, which names the known marketplaces."""
    if marketplace not in rows:
        raise NotFound(f"no such marketplace: one of {', '.join(sorted(rows))}")
    return rows[marketplace]
