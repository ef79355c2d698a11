"""Tables in one test: pytest costs more for a case than for a row of most tables."""

from collections.abc import Callable, Iterable
from typing import Any, Final

_TRACED: Final = 10  # failures shown with their tracebacks; the others are named


def each_row(
    rows: Iterable[tuple[str, Any]],
) -> Callable[[Callable[[Any], None]], Callable[[], None]]:
    """Makes one test of a check that takes a row; rows come with their ids.

    All rows are checked; the test fails with the ids of all that failed. A check that needs a
    fixture of its own for every row is parametrized instead.
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
