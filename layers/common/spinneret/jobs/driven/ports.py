"""Ports of driven jobs."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol


class Executions(Protocol):
    """Executions of one state machine."""

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        """Start an execution; no-op if the name was started with the same state.

        `name` has at most 80 characters and isn't used for anything else within 90 days
        (StartExecution API reference). Raises DependencyUnavailable.
        """


class CallbackTokens(Protocol):
    """Tokens of states that wait for a callback.

    A token is the right to move its execution: it is stored in our own rows and never disclosed.
    Methods raise DependencyUnavailable.
    """

    def complete(self, token: str) -> bool:
        """Complete the task token; return False if no state waits for it."""

    def heartbeat(self, token: str) -> bool:
        """Restart the state's heartbeat timeout; return False as `complete` does."""


IsOver = Callable[[str], bool]
"""Whether the named holder no longer needs its slot. Raises DependencyUnavailable."""


class Semaphore(Protocol):
    """A few slots per tenant and group. All methods raise DependencyUnavailable."""

    def take(
        self,
        tenant: str,
        group: str,
        holder: str,
        now: datetime,
        until: datetime,
        most: int,
        is_over: IsOver | None = None,
    ) -> bool:
        """Acquire a slot until `until`, or extend it; return False if `most` others hold one.

        If all are held, slots of holders for which `is_over` returns True are free.
        """

    def leave(self, tenant: str, group: str, holder: str) -> None:
        """Release the slot; no-op if not held."""
