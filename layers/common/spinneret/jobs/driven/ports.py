"""What driven jobs need from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Protocol


class Executions(Protocol):
    """Executions of one state machine."""

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        """Start one; the same name with the same state again changes nothing.

        `name` has at most 80 characters and isn't used for anything else within 90 days
        (StartExecution API reference). Raises DependencyUnavailable.
        """
        ...


class CallbackTokens(Protocol):
    """Tokens of states that wait for a callback. A token is the right to move its execution: it is
    kept in our own rows and given to nobody. Raises DependencyUnavailable."""

    def complete(self, token: str) -> bool:
        """Let the state go on; False for a token that nobody waits for any more."""
        ...

    def heartbeat(self, token: str) -> bool:
        """Begin the state's heartbeat time anew; False as for `complete`."""
        ...


IsOver = Callable[[str], bool]
"""Whether the holder of this name needs its place no more. Raises DependencyUnavailable."""


class Semaphore(Protocol):
    """Places of which each tenant has a few, in groups. All methods raise DependencyUnavailable."""

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
        """Take a place until then, or keep it for longer; False when `most` others have one.

        Where that is so, places of holders that are over by `is_over` are free.
        """
        ...

    def leave(self, tenant: str, group: str, holder: str) -> None:
        """Give it back; harmless without one."""
        ...
