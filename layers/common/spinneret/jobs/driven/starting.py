"""The handler of a driven kind: starts the execution that does the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.ports import Executions
from spinneret.jobs.worker import ClaimTransferred, Context
from spinneret.kernel import bounds


class Starter:
    """Leaves the claim to an execution named by job and fence: one of each segment."""

    def __init__(self, executions: Executions, prepare: Callable[[Context], None]) -> None:
        """`prepare` makes what the execution works on known; it may raise what handlers raise."""
        self._executions = executions
        self._prepare = prepare

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Never returns: raises ClaimTransferred, or what `prepare`, `hand_over` and `start` raise.

        The claim is kept for the execution before it begins: its first step may be faster than a
        write after the start, which would shorten the lease that the step has just renewed.
        """
        self._prepare(context)
        lease = context.lease
        turn = ExecutionClaim(
            tenant=lease.tenant, job_id=lease.job_id, fence=lease.fence, owner=lease.owner
        )
        context.hand_over(bounds.EXECUTION_START_SECONDS)
        self._executions.start(f"{lease.job_id}-{lease.fence}", turn.state())
        raise ClaimTransferred
