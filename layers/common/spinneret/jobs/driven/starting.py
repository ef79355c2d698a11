"""Handler of a driven kind: starts the execution that performs the job."""

from collections.abc import Callable, Mapping
from typing import Any

from spinneret.jobs.driven.models import ExecutionClaim
from spinneret.jobs.driven.ports import Executions
from spinneret.jobs.worker import ClaimTransferred, Context
from spinneret.kernel import bounds, metrics
from spinneret.kernel.service import service


@service
class Starter:
    """Start an execution named by job and fence, and pass the claim to it: one per segment."""

    executions: Executions
    prepare: Callable[[Context], None]
    """Sets up the data for the execution; may raise what handlers raise."""

    def __call__(self, context: Context) -> Mapping[str, Any]:
        """Start the execution. Always raises: ClaimTransferred, or what its three calls raise.

        The claim is extended before the execution starts. If it were extended after the start, the
        write could shorten a lease that a fast first step has just renewed.
        """
        self.prepare(context)
        lease = context.lease
        last_event = context.hand_over(bounds.EXECUTION_START_SECONDS)
        turn = ExecutionClaim(
            tenant=lease.tenant,
            job_id=lease.job_id,
            fence=lease.fence,
            owner=lease.owner,
            number=last_event,
        )
        self.executions.start(f"{lease.job_id}-{lease.fence}", turn.state())
        if context.job.attempts:  # the former one was lost or failed
            metrics.EXECUTIONS_RESTARTED.add()
        raise ClaimTransferred
