"""LocalStack ends on SIGTERM even with idle Lambda environments.

Upstream: services/lambda_/invocation/execution_environment.py gives each idle environment a Timer,
a thread that is not a daemon, of LAMBDA_KEEPALIVE_MS. LambdaService.stop gives the environments
five seconds to end, and then drops the rest with their timers running.
Effect: with many functions, or after deleting some, LocalStack's process outlives SIGTERM by up to
ten minutes, and so do the functions' processes.
"""

import threading
from typing import Any

from localstack.services.lambda_.invocation import execution_environment


def apply() -> None:
    module: Any = execution_environment
    module.Timer = _DaemonTimer


def is_needed() -> bool:
    return not execution_environment.Timer(0, print).daemon


class _DaemonTimer(threading.Timer):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.daemon = True
