"""A stack that is being deleted says so until the end.

Upstream: services/cloudformation/engine/v2/change_set_model_executor.py,
ChangeSetModelExecutor.execute sets the status UPDATE_COMPLETE_CLEANUP_IN_PROGRESS before it deletes
resources, also for a deletion of the stack.
Effect: a parent doesn't expect this status of a nested stack, takes its deletion for failed and
ends first. A stack created next meets deletions that continue.
"""

import inspect
from typing import Any

from localstack.aws.api.cloudformation import StackStatus
from localstack.services.cloudformation.engine.v2.change_set_model_executor import (
    ChangeSetModelExecutor,
)
from localstack.services.cloudformation.v2.entities import Stack
from localstack.utils.patch import patch

_WRONG = StackStatus.UPDATE_COMPLETE_CLEANUP_IN_PROGRESS


def apply() -> None:
    @patch(Stack.set_stack_status)
    def set_stack_status(original: Any, self: Any, status: Any, *args: Any, **kwargs: Any) -> None:
        if (self.status, status) != (StackStatus.DELETE_IN_PROGRESS, _WRONG):
            original(self, status, *args, **kwargs)


def is_needed() -> bool:
    return _WRONG.name in inspect.getsource(ChangeSetModelExecutor.execute)
