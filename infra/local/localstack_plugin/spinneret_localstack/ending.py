"""LocalStack ends as soon as its data are saved.

Upstream: `Runtime.shutdown` waits for the managers of all functions (five seconds), for calls of
functions in progress, and for the gateway's threads (ten seconds), which long polls keep busy.
Effect: `make down` waited 15 seconds and killed LocalStack then.
"""

import os
from collections.abc import Callable

from localstack.runtime.shutdown import SHUTDOWN_HANDLERS

from spinneret_localstack.process_executor.executor import ProcessRuntimeExecutor
from spinneret_localstack.process_executor.host import LambdaHost


def install(save: Callable[[], None]) -> None:
    """End this process at its shutdown: first end the functions, so that none writes, then save."""

    def end() -> None:
        try:
            host: LambdaHost | None = getattr(ProcessRuntimeExecutor, "host", None)
            if host is not None:
                host.guard.end()
            save()
        finally:
            # DynamoDB has every row on disk; `down` ends its process with all others.
            os._exit(0)

    SHUTDOWN_HANDLERS.register(end)
