"""What an execution carries from step to step: ids only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from spinneret.jobs.models import JobRef, Lease


@dataclass(frozen=True, kw_only=True)
class ExecutionClaim:
    """One step of an execution: whose claim it holds, and its number."""

    tenant: str
    job_id: str
    fence: int
    owner: str
    number: int = 0
    """Of the steps that write to the job; numbers its events."""

    @property
    def ref(self) -> JobRef:
        """The job."""
        return JobRef(tenant=self.tenant, job_id=self.job_id)

    @property
    def lease(self) -> Lease:
        """The claim."""
        return Lease(tenant=self.tenant, job_id=self.job_id, fence=self.fence, owner=self.owner)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """From a state's input; raises KeyError for one that no execution of ours has."""
        return cls(
            tenant=given["tenant"],
            job_id=given["job_id"],
            fence=given["fence"],
            owner=given["owner"],
            number=given["number"],
        )

    def state(self) -> dict[str, Any]:
        """The inverse of `of`."""
        return asdict(self)
