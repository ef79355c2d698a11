"""Lambda handlers of events and of a state machine's steps, which map a state to a state."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.aws import tracing
from spinneret.aws.stage import Builder
from spinneret.kernel.clock import Remaining
from spinneret.runtime.logs import bind_request_id, configure
from spinneret.runtime.metrics import measured

Step = Callable[[Mapping[str, Any], Remaining], Any]
"""Function (the state's input, remaining seconds) → the state's output as JSON."""


def step_entrypoint(
    build: Builder[Step], name: str
) -> Callable[[dict[str, Any], LambdaContext], Any]:
    """Return a handler that doesn't catch the step's errors.

    The state machine retries them, by the error's class; for an event, Lambda does.
    """
    built: list[Step] = []

    def handler(state: dict[str, Any], context: LambdaContext) -> Any:
        if not built:
            configure(name)
            built.append(build.of(os.environ))
        bind_request_id(context.aws_request_id)
        trace = state.get(tracing.STATE_KEY)
        tracing.follow(trace)
        with measured(name):
            answer = built[0](state, lambda: context.get_remaining_time_in_millis() / 1000)
        return answer if trace is None else {**answer, tracing.STATE_KEY: trace}

    return handler
