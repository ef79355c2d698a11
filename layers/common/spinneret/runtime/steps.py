"""Lambda handlers of a state machine's steps, a state in, a state out, and of events."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.typing import LambdaContext

from spinneret.kernel.clock import Remaining
from spinneret.runtime.logs import bind_request_id, configure

Step = Callable[[Mapping[str, Any], Remaining], Any]
"""(the state's input, seconds that the invocation has left) → the state's output, JSON."""


def step_entrypoint(
    build: Callable[[Mapping[str, str]], Step], name: str
) -> Callable[[dict[str, Any], LambdaContext], Any]:
    """An error that the step raises is the machine's to retry: it names its class alone. So is an
    event's, for Lambda."""
    built: list[Step] = []

    def handler(state: dict[str, Any], context: LambdaContext) -> Any:
        if not built:
            configure(name)
            built.append(build(os.environ))
        bind_request_id(context.aws_request_id)
        return built[0](state, lambda: context.get_remaining_time_in_millis() / 1000)

    return handler
