"""Lambda handlers of schedule rules: they take no input and perform one bounded pass."""

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.aws.stage import Builder
from spinneret.runtime.logs import configure
from spinneret.runtime.metrics import measured

Pass = Callable[[], Any]


def scheduled_entrypoint(
    build: Builder[Pass], name: str
) -> Callable[[dict[str, Any], LambdaContext], dict[str, Any]]:
    """Return a handler that returns the result of the pass (a dataclass) as a dictionary."""
    built: list[Pass] = []

    def handler(_event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
        if not built:
            configure(name)
            built.append(build.of(os.environ))
        with measured(name):
            return asdict(built[0]())

    return handler


TimedPass = Callable[[Callable[[], float]], Any]
"""Function that performs a pass, given a function for the remaining seconds."""


def timed_entrypoint(
    build: Builder[TimedPass], name: str
) -> Callable[[dict[str, Any], LambdaContext], dict[str, Any]]:
    """Return a handler as `scheduled_entrypoint`, for passes that stop before their function."""
    built: list[TimedPass] = []

    def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        if not built:
            configure(name)
            built.append(build.of(os.environ))
        with measured(name):
            return asdict(built[0](lambda: context.get_remaining_time_in_millis() / 1000))

    return handler
