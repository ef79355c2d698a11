"""Tables of cases in one test: for most tables, a pytest case costs more time than a row."""

from collections.abc import Callable, Iterable
from typing import Any, Final

_TRACED: Final = 10  # failures shown with their tracebacks; the others are only named


def each_row(
    rows: Iterable[tuple[str, Any]],
) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Return a decorator that turns a check of one row into one test of all rows.

    `rows` are ids and rows. All rows are checked; the test fails with the ids of all failed rows.
    Parametrize a check instead if it needs a separate fixture for every row.
    """
    named = list(rows)
    assert named, "the table is empty"

    def one_test(check: Callable[[Any], None]) -> Callable[[], None]:
        def test() -> None:
            failures: dict[str, Exception] = {}
            for name, row in named:
                try:
                    check(row)
                except Exception as failure:  # noqa: BLE001 - raised below, with those of other rows
                    failure.add_note(f"row {name}")
                    failures[name] = failure
            if failures:
                raise ExceptionGroup(
                    f"{len(failures)} of {len(named)} rows failed: {', '.join(failures)}",
                    list(failures.values())[:_TRACED],
                )

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        test.__module__ = check.__module__
        return test

    return one_test
