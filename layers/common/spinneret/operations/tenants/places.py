"""Parts of a deletion that belong to single products."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from spinneret.jobs.models import JobFilter, JobStatus
from spinneret.jobs.ports import JobStore
from spinneret.kernel import bounds
from spinneret.kernel.clock import Remaining
from spinneret.kernel.errors import DependencyUnavailable, DomainError, NotFound
from spinneret.kernel.paging import items_of
from spinneret.kernel.service import service
from spinneret.marketplace.connections.service import ConnectionService
from spinneret.operations.tenants import limits
from spinneret.operations.tenants.models import Erased


@service
class IndexPlace:
    """Implements Place for the chunk indexes."""

    remove: Callable[[str, int, Remaining], int]
    """Function (tenant, maximum, remaining seconds) → number of chunks that were deleted."""
    name: str = "search index"

    def erase(self, tenant: str, after: Any, remaining: Remaining) -> Erased:  # noqa: ARG002 - an index has no position
        removed = self.remove(tenant, limits.INDEX_CHUNKS_PER_STEP, remaining)
        return Erased(removed=removed, after=True if removed else None)


@service
class LeasedJobs:
    """Implements RunningWork by the leases of running jobs."""

    jobs: JobStore

    def busy_until(self, tenant: str, now: datetime) -> datetime | None:
        running = JobFilter(status=JobStatus.RUNNING)
        jobs = items_of(lambda after: self.jobs.page(tenant, running, after, bounds.LIST_LIMIT_MAX))
        ends = (job.locked_until for job in jobs if job.locked_until is not None)
        return max((end for end in ends if end > now), default=None)


@service
class Connections:
    """Implements SellerAuthorizations."""

    connections: ConnectionService

    def revoke_all(self, tenant: str) -> Mapping[str, str]:
        """See SellerAuthorizations; an authorization that can't be revoked stops no deletion."""
        outcomes = ((name, self._revoked(tenant, name)) for name in sorted(self.connections.apps))
        return {name: outcome for name, outcome in outcomes if outcome is not None}

    def _revoked(self, tenant: str, marketplace: str) -> str | None:
        try:
            is_revoked = self.connections.end(tenant, marketplace)
        except NotFound:
            return None
        except DependencyUnavailable:
            raise
        except DomainError as error:
            return f"not revoked: {error.code}"
        return "revoked" if is_revoked else "not revoked: no answer"
