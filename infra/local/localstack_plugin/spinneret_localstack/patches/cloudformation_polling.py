"""CloudFormation polls a resource in progress every 0.05 seconds.

Upstream: services/cloudformation/resource_provider.py, ResourceProviderExecutor.deploy_loop sleeps
5 seconds between two polls, and no caller changes that.
Effect: every function and API adds 5 seconds; a deployment takes minutes instead of half a minute.
"""

import inspect
from typing import Any

from localstack.services.cloudformation.resource_provider import ResourceProviderExecutor
from localstack.utils.patch import patch

POLL_SECONDS = 0.05


def apply() -> None:
    @patch(ResourceProviderExecutor.deploy_loop)
    def deploy_loop(original: Any, *args: Any, **kwargs: Any) -> Any:
        return original(*args, **{"sleep_time": POLL_SECONDS, **kwargs})


def is_needed() -> bool:
    parameters = inspect.signature(ResourceProviderExecutor.deploy_loop).parameters
    return bool(parameters["sleep_time"].default > POLL_SECONDS)
