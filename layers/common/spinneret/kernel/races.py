"""Writes that others may get ahead of."""

from collections.abc import Callable
from typing import Literal

from spinneret.kernel.errors import Conflict, Contended, DomainError


def until_written[T](
    attempt: Callable[[], T | Literal[False] | None], otherwise: DomainError, tries: int = 5
) -> T:
    """Return the first result of `attempt` that is neither None nor False.

    Both say that others wrote first: each attempt reads again what it changes. Raises `otherwise`
    after `tries` attempts. The default suffices, since concurrent changes of one thing are rare.
    """
    for _ in range(tries):
        written = attempt()
        if written is not None and written is not False:
            return written
    raise otherwise


def changing(what: str, error: type[Conflict | Contended] = Conflict) -> DomainError:
    """Return the error for something that others change at the same time."""
    return error(f"{what} is being changed by others")
