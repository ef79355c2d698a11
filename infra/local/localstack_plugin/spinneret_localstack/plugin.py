"""Entry point of the executor. LocalStack selects it by LAMBDA_RUNTIME_EXECUTOR=process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from localstack.services.lambda_.invocation.plugins import RuntimeExecutorPlugin

if TYPE_CHECKING:
    from spinneret_localstack.process_executor.executor import ProcessRuntimeExecutor


class ProcessRuntimeExecutorPlugin(RuntimeExecutorPlugin):
    name = "process"

    def load(self, *_args: Any, **_kwargs: Any) -> type[ProcessRuntimeExecutor]:
        from spinneret_localstack.process_executor.executor import (  # noqa: PLC0415  # slow import
            ProcessRuntimeExecutor,
        )

        return ProcessRuntimeExecutor
