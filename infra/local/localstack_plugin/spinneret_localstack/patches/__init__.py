"""Patches of LocalStack 4.9.2, applied when it starts.

Each module has `apply`, and `is_needed`, which returns whether an unpatched LocalStack still has
the defect.
"""

from typing import Protocol

from spinneret_localstack.patches import (
    cloudformation_deletion,
    cloudformation_polling,
    code_urls,
    form_bodies,
    gateway_address,
    gateway_responses,
    sqs_concurrency,
    task_token,
)


class Patch(Protocol):
    def apply(self) -> None: ...

    def is_needed(self) -> bool: ...


PATCHES: dict[str, Patch] = {
    "cloudformation-deletion": cloudformation_deletion,
    "cloudformation-polling": cloudformation_polling,
    "code-urls": code_urls,
    "form-bodies": form_bodies,
    "gateway-address": gateway_address,
    "gateway-responses": gateway_responses,
    "sqs-concurrency": sqs_concurrency,
    "task-token": task_token,
}
