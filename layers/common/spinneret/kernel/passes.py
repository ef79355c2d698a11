"""Passes over rows of all tenants."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable

from spinneret.kernel.errors import DomainError

logger = logging.getLogger(__name__)

FAILED = "failed"
"""Result of a row whose action raised an error."""


def act_on_each[T](
    rows: Iterable[T],
    act: Callable[[T], str],
    name_of: Callable[[T], str],
    may_go_on: Callable[[], bool] = lambda: True,
) -> Counter[str]:
    """Call `act` for each row while `may_go_on`; return the number of rows by its result.

    A row whose action raises an error is logged and counts as FAILED: the others have their pass.
    So `rows` should yield references, which `act` reads: a row that this release can't read, among
    rows that are read together, ends the pass.
    """
    results = Counter[str]()
    for row in rows:
        if not may_go_on():
            break
        try:
            results[act(row)] += 1
        except Exception as error:  # logged; one row must not stop the others
            results[FAILED] += 1
            facts = {"row": name_of(row)}
            if isinstance(error, DomainError):
                facts |= {"code": error.code, "reason": error.message}
                logger.warning("row_postponed", extra=facts)
            else:
                logger.error("row_failed", extra=facts, exc_info=error)
    return results
