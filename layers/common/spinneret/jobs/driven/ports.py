"""What driven jobs need from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Executions(Protocol):
    """Executions of one state machine."""

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        """Start one; the same name with the same state again changes nothing.

        `name` has at most 80 characters and isn't used for anything else within 90 days
        (StartExecution API reference). Raises DependencyUnavailable.
        """
        ...
