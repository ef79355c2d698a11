"""Executions on AWS Step Functions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from spinneret.aws.clients import error_code, translated

if TYPE_CHECKING:
    from types_boto3_stepfunctions import SFNClient


class StepFunctionsExecutions:
    """Implements Executions."""

    def __init__(self, client: SFNClient, machine_arn: str) -> None:
        self._client = client
        self._machine = machine_arn

    def start(self, name: str, state: Mapping[str, Any]) -> None:
        """See Executions. An execution of the name that has ended already counts as started."""
        try:
            with translated("stepfunctions"):
                self._client.start_execution(
                    stateMachineArn=self._machine, name=name, input=json.dumps(state)
                )
        except ClientError as error:
            if error_code(error) != "ExecutionAlreadyExists":
                raise
