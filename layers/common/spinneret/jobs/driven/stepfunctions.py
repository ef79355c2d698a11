"""Executions and callbacks on AWS Step Functions."""

import json
from collections.abc import Mapping
from typing import Any, Final

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translate_aws_errors
from spinneret.aws.tracing import STATE_KEY, trace_header
from spinneret.aws.types import SFNClient

# Errors for a state that has ended, or timed out (API reference of SendTaskSuccess).
_OVER: Final = frozenset({"InvalidToken", "TaskDoesNotExist", "TaskTimedOut"})


class StepFunctionsExecutions:
    """Implements Executions."""

    def __init__(self, client: SFNClient, machine_arn: str) -> None:
        self._client = client
        self._machine = machine_arn

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        """See Executions. Counts an ended execution of the same name as started."""
        header = trace_header()
        traced = {"traceHeader": header} if header else {}
        try:
            with translate_aws_errors("stepfunctions"):
                self._client.start_execution(
                    stateMachineArn=self._machine,
                    name=name,
                    input=json.dumps({**state, STATE_KEY: header}),
                    **traced,
                )
        except ClientError as error:
            if error_code(error) != "ExecutionAlreadyExists":
                raise

    def running(self) -> int:
        """Return the number of running executions, at most 1,000. Raises DependencyUnavailable."""
        with translate_aws_errors("stepfunctions"):
            answer = self._client.list_executions(
                stateMachineArn=self._machine, statusFilter="RUNNING", maxResults=1000
            )
        return len(answer["executions"])


class StepFunctionsTokens:
    """Implements CallbackTokens."""

    def __init__(self, client: SFNClient) -> None:
        self._client = client

    def complete(self, token: str) -> bool:
        try:
            with translate_aws_errors("stepfunctions"):
                self._client.send_task_success(taskToken=token, output="{}")
        except ClientError as error:
            return _is_over(error)
        return True

    def heartbeat(self, token: str) -> bool:
        try:
            with translate_aws_errors("stepfunctions"):
                self._client.send_task_heartbeat(taskToken=token)
        except ClientError as error:
            return _is_over(error)
        return True


def _is_over(error: ClientError) -> bool:
    """Return False if no state waits for the token; re-raise any other error."""
    if error_code(error) not in _OVER:
        raise error
    return False
