"""A Step Functions task with a heartbeat accepts a token that was returned early.

Upstream: services/stepfunctions/asl/eval/callback/callback.py. A waitForTaskToken state creates its
heartbeat endpoint after its service call has returned. CallbackEndpoint.notify wakes that endpoint
only if it exists already. A SendTaskSuccess from within the called function is stored as the
outcome, but not read before the heartbeat times out.
Effect: the state fails with States.Timeout although the task has succeeded.
"""

from typing import Any

from localstack.services.stepfunctions.asl.eval.callback.callback import (
    CallbackEndpoint,
    CallbackOutcomeSuccess,
    HeartbeatEndpoint,
)
from localstack.utils.patch import patch


def apply() -> None:
    @patch(CallbackEndpoint.setup_heartbeat_endpoint)
    def setup_heartbeat_endpoint(
        original: Any, callback: CallbackEndpoint, heartbeat_seconds: int
    ) -> HeartbeatEndpoint:
        endpoint: HeartbeatEndpoint = original(callback, heartbeat_seconds)
        # `notify` stores the outcome before it looks for the endpoint, so one of the two has both.
        if callback.get_outcome() is not None:
            endpoint.notify()
        return endpoint


def is_needed() -> bool:
    endpoint = CallbackEndpoint("token")
    endpoint.notify(CallbackOutcomeSuccess("token", output="{}"))
    heartbeat_seconds = 0  # don't wait
    return not endpoint.setup_heartbeat_endpoint(heartbeat_seconds).clear_and_wait()
