"""Use cases of imports, behind the routes."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from spinneret.jobs.models import Job, JobRef, RequestKey
from spinneret.jobs.service import Submitted
from spinneret.kernel import bounds
from spinneret.kernel.errors import MarketplaceUnsupported
from spinneret.kernel.paging import Page
from spinneret.kernel.service import service
from spinneret.marketplace.imports.models import ImportedListing, ImportOutcome
from spinneret.marketplace.imports.ports import ListingImportStore
from spinneret.marketplace.lookup import of_marketplace
from spinneret.marketplace.publishing.commands import Command
from spinneret.marketplace.publishing.service import PublishingService

_READS: Final = 40  # pages of 100 listings that one request reads to find rows of an outcome


@service
class ListingImportService:
    """Use cases of imports. All methods raise DependencyUnavailable."""

    jobs: PublishingService
    rows: ListingImportStore
    reasons: Mapping[str, str | None]
    """Marketplace → reason why its listings can't be imported; None if they can."""

    def submit(
        self,
        tenant: str,
        marketplace: str,
        create: bool,
        key: RequestKey | None,
        answer: Callable[[Job], Mapping[str, Any]],
    ) -> Submitted:
        """Accept an import. Raises NotFound for an unknown marketplace and MarketplaceUnsupported
        for one whose listings can't be read."""
        reason = of_marketplace(self.reasons, marketplace)
        if reason is not None:
            raise MarketplaceUnsupported(reason)
        command = Command(
            marketplace=marketplace,
            action_code="import",
            product_id=None,
            input_data={"create": create},
        )
        return self.jobs.submit(tenant, command, None, key, answer)

    def page(
        self, tenant: str, job_id: str, outcome: ImportOutcome | None, after: str | None, limit: int
    ) -> Page[ImportedListing]:
        """Return listings of an import by id. Raises NotFound.

        A page may have fewer than `limit` listings, or none, before the last one.
        """
        self.jobs.get(tenant, job_id)
        ref, found = JobRef(tenant=tenant, job_id=job_id), list[ImportedListing]()
        for _ in range(_READS):
            page = self.rows.page(ref, after, bounds.LIST_LIMIT_MAX)
            for row in page.items:
                if outcome in (None, row.outcome):
                    found.append(row)
                if len(found) == limit:
                    is_last = row is page.items[-1] and page.after is None
                    return Page(items=tuple(found), after=None if is_last else row.external_id)
            after = page.after
            if after is None:
                break
        return Page(items=tuple(found), after=after)
