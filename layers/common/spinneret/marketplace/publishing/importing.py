"""Steps of an import, which the plans of several marketplaces share."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from spinneret.marketplace.imports.matching import Importing
from spinneret.marketplace.imports.models import FoundListingPage
from spinneret.marketplace.publishing.models import JobSubject
from spinneret.marketplace.publishing.plans import PlanStep, step
from spinneret.marketplace.publishing.work import StepContext
from spinneret.marketplace.tasks.models import TaskType

ReadPage = Callable[[StepContext, str | None], FoundListingPage]
"""Function that reads the page of listings at a position, None for the first one."""


def import_steps(
    subject: JobSubject, path: str, read_page: ReadPage, *, needs_sku: bool
) -> Sequence[PlanStep]:
    """Return the steps: read all pages, match by SKU, match by title. `needs_sku`: whether the
    marketplace finds listings by the product's SKU only."""
    create = subject.given.get("create") is True

    def job(work: StepContext) -> Importing:
        market = subject.marketplace
        return Importing(context=work.context, marketplace=market, needs_sku=needs_sku)

    def read(work: StepContext) -> Mapping[str, Any]:
        return work.services.imports.read(job(work), partial(read_page, work))

    def match_by_sku(work: StepContext) -> Mapping[str, Any]:
        return work.services.imports.match_by_sku(job(work))

    def match_by_title(work: StepContext) -> Mapping[str, Any]:
        return work.services.imports.match_by_title(job(work), create=create)

    return [
        step("read", "Read the listings", "GET", path, {}, read),
        PlanStep(
            key="sku",
            type=TaskType.DB_OPERATION,
            description="Match by SKU",
            run=match_by_sku,
        ),
        PlanStep(
            key="title",
            type=TaskType.DB_OPERATION,
            description="Match by title, then create" if create else "Match by title",
            payload={"create": create},
            run=match_by_title,
        ),
    ]
