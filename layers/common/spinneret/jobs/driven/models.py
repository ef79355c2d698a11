"""State that an execution passes from step to step: ids only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from spinneret.jobs.models import JobRef, Lease


@dataclass(frozen=True, kw_only=True)
class ExecutionClaim:
    """One step of an execution: its claim and its number."""

    tenant: str
    job_id: str
    fence: int
    owner: str
    number: int = 0
    """Number of the step's event in the claim, counting only steps that write to the job.

    An execution starts with the number of the last event that its worker wrote.
    """

    @property
    def ref(self) -> JobRef:
        """Reference to the job."""
        return JobRef(tenant=self.tenant, job_id=self.job_id)

    @property
    def lease(self) -> Lease:
        """The claim as a lease."""
        return Lease(tenant=self.tenant, job_id=self.job_id, fence=self.fence, owner=self.owner)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Build from a state's input. Raises KeyError if it isn't from an execution of ours."""
        return cls(
            tenant=given["tenant"],
            job_id=given["job_id"],
            fence=given["fence"],
            owner=given["owner"],
            number=given["number"],
        )

    def state(self) -> dict[str, Any]:
        """Return the state for `of`."""
        return asdict(self)
