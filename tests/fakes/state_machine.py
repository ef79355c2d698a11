"""Run a definition of statemachines/ in this process, on a manual clock.

It implements the parts of the Amazon States Language that our definitions use, and refuses all
others. Time passes only while an execution waits; the items of a map run one after the other.
"""

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from typing import Any, Final

import yaml

from spinneret.aws.tracing import STATE_KEY
from spinneret.kernel.clock import parse_stamp
from spinneret.kernel.errors import DomainError
from tests.architecture.conftest import ROOT
from tests.fakes.crashes import Crash
from tests.fakes.time import HandClock

_CALLBACK: Final = "arn:aws:states:::lambda:invoke.waitForTaskToken"
_TRANSITIONS: Final = 3000  # of one execution; more mean an endless loop

Function = Callable[[dict[str, Any]], Any]


class Lost(Exception):
    """Raised when an execution is lost: it was stopped, or it never began."""


class TaskFailed(Exception):
    """Raised when a task has failed after its retries."""


class FakeCallbacks:
    """Implements CallbackTokens."""

    def __init__(self) -> None:
        self.waiting: set[str] = set()
        self.completed: list[str] = []
        self.beats = 0
        self._numbers = itertools.count(1)

    def new(self) -> str:
        """Return the token of a state that begins to wait."""
        token = f"token-{next(self._numbers)}"
        self.waiting.add(token)
        return token

    def complete(self, token: str) -> bool:
        if token not in self.waiting:
            return False
        self.waiting.remove(token)
        self.completed.append(token)
        return True

    def heartbeat(self, token: str) -> bool:
        self.beats += token in self.waiting
        return token in self.waiting


@cache
def _definition(name: str) -> Any:
    """Return a definition, cached: hundreds of tests use the same one, and none changes it."""
    return yaml.safe_load((ROOT / "statemachines" / f"{name}.asl.yaml").read_text())


class StateMachine:
    """One definition, with the functions that its substitutions name."""

    def __init__(
        self,
        definition: str,
        functions: Mapping[str, Function],
        clock: HandClock,
        callbacks: FakeCallbacks,
    ) -> None:
        self._definition = _definition(definition)
        self._functions = functions
        self._clock = clock
        self._callbacks = callbacks
        self.entered: Counter[str] = Counter()
        """Number of times that executions entered each state; AWS charges for each."""
        self.states: list[Any] = []
        """Inputs of all states that ran, in order."""
        self.meanwhile: Callable[[], None] = lambda: None
        """Called whenever an execution waits."""
        self.lost_after: int | None = None
        """Number of states after which an execution is lost; None for no loss."""
        self.dies_with_functions = False
        """Whether the crash of a function also loses the execution."""
        self._left = 0

    def run(self, state: Any) -> None:
        """Run one execution to its end; its input continues no trace. Raises Lost."""
        self._left = _TRANSITIONS if self.lost_after is None else self.lost_after
        self._run(self._definition, {STATE_KEY: "", **json.loads(json.dumps(state))})

    def _run(self, part: Mapping[str, Any], state: Any, item: Any = None) -> Any:
        name: str | None = part["StartAt"]
        while name is not None:
            if self._left == 0:
                assert self.lost_after is not None, "the execution goes on for ever"
                raise Lost
            self._left -= 1
            self.entered[name] += 1
            self.states.append(state)
            spec = part["States"][name]
            state, name = getattr(self, f"_{spec['Type'].lower()}")(spec, state, item)
            state = json.loads(json.dumps(state))
        return state

    def _task(self, spec: Mapping[str, Any], state: Any, item: Any) -> tuple[Any, str | None]:
        tries = 1 + max((each["MaxAttempts"] for each in spec["Retry"]), default=0)
        for attempt in range(1, tries + 1):
            try:
                answer = self._tried(spec, state, item)
            except (Crash, DomainError, TaskFailed) as error:
                if isinstance(error, Crash) and self.dies_with_functions:
                    raise Lost from error
                again = any("States.ALL" in each["ErrorEquals"] for each in spec["Retry"])
                if again and attempt < tries and not isinstance(error, TaskFailed):
                    self._clock.advance(1)
                    continue
                [caught] = spec["Catch"]
                assert caught["ErrorEquals"] == ["States.ALL"]
                return (state if "ResultPath" in caught else {"Error": str(error)}), caught["Next"]
            return _placed(spec, state, answer), spec["Next"]
        raise AssertionError("a try returns or is caught")

    def _tried(self, spec: Mapping[str, Any], state: Any, item: Any) -> Any:
        if spec["Resource"] != _CALLBACK:
            answer = self._functions[_name(spec["Resource"])](json.loads(json.dumps(state)))
            return {**answer, STATE_KEY: state[STATE_KEY]}  # functions' entry points do the same
        token = self._callbacks.new()
        given = _built(spec["Parameters"], state, {"Task": {"Token": token}, "Map": item})
        try:
            self._functions[_name(given["FunctionName"])](given["Payload"])
            end = self._clock() + timedelta(seconds=spec["TimeoutSeconds"])
            while token in self._callbacks.waiting and self._clock() < end:
                beats = self._callbacks.beats
                self.meanwhile()
                if token in self._callbacks.waiting:
                    self._clock.advance(spec["HeartbeatSeconds"])
                    if beats == self._callbacks.beats:
                        break
            if token in self._callbacks.waiting:
                raise TaskFailed("States.Timeout")
        finally:
            self._callbacks.waiting.discard(token)
        return {}

    def _choice(self, spec: Mapping[str, Any], state: Any, _: Any) -> tuple[Any, str | None]:
        for each in spec["Choices"]:
            if _at(each["Variable"], state, {}) == each["StringEquals"]:
                return state, each["Next"]
        return state, spec["Default"]

    def _wait(self, spec: Mapping[str, Any], state: Any, _: Any) -> tuple[Any, str | None]:
        self.meanwhile()
        moment = parse_stamp(_at(spec["TimestampPath"], state, {}))
        self._clock.now = max(self._clock(), moment)
        return state, spec["Next"]

    def _map(self, spec: Mapping[str, Any], state: Any, _: Any) -> tuple[Any, str | None]:
        answers = []
        for value in _at(spec["ItemsPath"], state, {}):
            item = {"Item": {"Value": value}}
            given = _built(spec["ItemSelector"], state, {"Map": item})
            answers.append(self._run(spec["ItemProcessor"], given, item))
        return _placed(spec, state, answers), spec["Next"]

    def _pass(self, spec: Mapping[str, Any], state: Any, _: Any) -> tuple[Any, str | None]:
        assert spec["End"]
        return _built(spec["Parameters"], state, {}), None

    def _succeed(self, _spec: Mapping[str, Any], state: Any, _: Any) -> tuple[Any, str | None]:
        return state, None


def _name(resource: str) -> str:
    found = re.fullmatch(r"\$\{(\w+)FunctionArn\}", resource)
    assert found, resource
    return found[1]


def _placed(spec: Mapping[str, Any], state: Any, answer: Any) -> Any:
    if "ResultPath" not in spec:
        return answer
    if spec["ResultPath"] is None:
        return state
    return {**state, spec["ResultPath"].removeprefix("$."): answer}


def _built(template: Any, state: Any, context: Mapping[str, Any]) -> Any:
    if not isinstance(template, dict):
        return template
    return {
        name.removesuffix(".$"): _at(value, state, context)
        if name.endswith(".$")
        else _built(value, state, context)
        for name, value in template.items()
    }


def _at(path: str, state: Any, context: Mapping[str, Any]) -> Any:
    """Return the value at a path. Raises KeyError where AWS would fail the execution."""
    parts = path.split(".")
    found = context if parts[0] == "$$" else state
    for part in parts[1:]:
        found = found[part]
    return found
