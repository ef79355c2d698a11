"""Services that hang while a file of their name exists, so that tests can stop one of them alone.

All of LocalStack's services share one process. A held service takes requests and answers nothing,
as a stopped process does; once the file is gone, it works off all that came. That includes
requests whose clients gave up, and calls by LocalStack itself, for example for queue mappings.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localstack.aws.api import RequestContext
from localstack.aws.handlers import run_custom_response_handlers
from localstack.aws.handlers import serve_custom_service_request_handlers as request_handlers

POLL_SECONDS = 0.1


@dataclass(frozen=True)
class HungServices:
    """`folder` holds the files, such as `sqs`."""

    folder: Path

    def install(self) -> None:
        """Hold requests, and also answers to requests that came before the file."""
        request_handlers.append(self.hold)
        run_custom_response_handlers.append(self.hold)

    def hold(self, chain: Any, context: RequestContext, response: Any) -> None:
        """Wait as long as the request's service hangs."""
        del chain, response
        name = _service_of(context)
        while name is not None and (self.folder / name).exists():
            time.sleep(POLL_SECONDS)


def _service_of(context: RequestContext) -> str | None:
    """Return the service that a request needs; an execution's call needs Step Functions."""
    internal: Any = context.internal_request_params or {}
    principal = internal.get("service_principal")
    if principal == "states":
        return "stepfunctions"
    return context.service.service_name if context.service is not None else None
