"""Tables in one test: pytest costs more for a case than for a row of most tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

_TRACED: Final = 10  # failures shown with their tracebacks; the others are named


def each_row(
    rows: Mapping[str, Any] | Iterable[tuple[str, Any]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes one test of a check: its first argument is each row in turn, others are fixtures.

    All rows are checked; the test fails with the ids of all that failed. Rows share the fixtures.
    """
    named = list(rows.items() if isinstance(rows, Mapping) else rows)
    assert named, "the table is empty"

    def one_test(check: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(check)
        _, *fixtures = signature.parameters.values()

        def test(**given: Any) -> None:
            failures: dict[str, Exception] = {}
            for name, row in named:
                try:
                    check(row, **given)
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
        test.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return test

    return one_test
