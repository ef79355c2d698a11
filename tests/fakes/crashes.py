"""Crashes of a worker at a chosen call of a port."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final


class Crash(BaseException):
    """Raised to end the process; no handler of the code under test may catch it."""


class Moment(StrEnum):
    """When the process ends: before the call, during its several writes, or after it."""

    BEFORE = "before"
    HALFWAY = "halfway"
    AFTER = "after"


_WRITES_SEVERAL: Final = "index.write"  # the only call that isn't atomic


class CrashPlan:
    """Count the calls of the wrapped ports, and crash at one of them, once."""

    def __init__(self, at: int | None = None, moment: Moment = Moment.BEFORE) -> None:
        self.calls: list[str] = []
        self._at = at
        self._moment = moment

    def points(self) -> list[tuple[int, Moment]]:
        """Return every point at which a repetition of the calls so far may crash."""
        return [
            (at, moment)
            for at, name in enumerate(self.calls, start=1)
            for moment in Moment
            if moment is not Moment.HALFWAY or name == _WRITES_SEVERAL
        ]

    @property
    def crashed(self) -> bool:
        """Return whether the chosen call was reached."""
        return self._at is not None and len(self.calls) >= self._at

    def wrap(self, name: str, port: Any) -> Any:
        """Return a port whose calls this plan counts."""
        return _Watched(self, name, port)

    def call(self, name: str, operation: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Make one call, or crash before, during or after it."""
        self.calls.append(name)
        here = len(self.calls) == self._at
        if here and self._moment is Moment.BEFORE:
            raise Crash(name)
        if here and self._moment is Moment.HALFWAY and name == _WRITES_SEVERAL:
            chunks, *others = given
            operation(chunks[: len(chunks) // 2], *others)
            raise Crash(name)
        answer = operation(*given, **named)
        if here:
            raise Crash(name)
        return answer


class Overtaken(CrashPlan):
    """Let another process run once, immediately before or after one call."""

    def __init__(self, at: int, moment: Moment, act: Callable[[], None]) -> None:
        super().__init__()
        self._place = (at, moment)
        self._act = act

    def call(self, name: str, operation: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Make one call, and let the other process run before or after it."""
        self.calls.append(name)
        if self._place == (len(self.calls), Moment.BEFORE):
            self._act()
        try:
            return operation(*given, **named)
        finally:  # also after a call that failed
            if self._place == (len(self.calls), Moment.AFTER):
                self._act()


class _Watched:
    def __init__(self, plan: CrashPlan, name: str, port: Any) -> None:
        self._plan = plan
        self._name = name
        self._port = port

    def __getattr__(self, attribute: str) -> Any:
        operation = getattr(self._port, attribute)
        name = f"{self._name}.{attribute}"
        return lambda *given, **named: self._plan.call(name, operation, *given, **named)
