"""Clients that run another action between two calls of one store operation."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.contract.backends import Tables


class _Interrupted:
    """A client that runs `act` just before its `number`-th call of `operation`."""

    def __init__(self, client: Any, operation: str, number: int, act: Callable[[], Any]) -> None:
        self._client = client
        self._operation = operation
        self._number = number
        self._act = act
        self._calls = 0

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)
        return self._interrupted(call) if name == self._operation else call

    def _interrupted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def interrupted(**request: Any) -> Any:
            self._calls += 1
            if self._calls == self._number:
                self._act()
            return call(**request)

        return interrupted


def interrupted(
    tables: Tables, operation: str, act: Callable[[], Any], *, before: int = 1
) -> Tables:
    """Return the tables with a client that runs `act` before a call; `act` uses another client."""
    return replace(tables, client=_Interrupted(tables.client, operation, before, act))
