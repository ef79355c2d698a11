"""Routes: marketplace jobs and tasks, action types, statistics, listings, orders."""

from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Query

from marketplace.marketplace_examples import IMPORT, JOB
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.jobs.models import JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.errors import Conflict, Contended, IdempotencyMismatch, MarketplaceUnsupported
from spinneret.kernel.paging import position_of
from spinneret.marketplace.imports.api_models import (
    ImportedListingList,
    ImportedListingView,
    ListingImportRequest,
)
from spinneret.marketplace.imports.models import ImportOutcome
from spinneret.marketplace.listings.api_models import ListingList, ListingView
from spinneret.marketplace.orders.api_models import OrderList, OrderView
from spinneret.marketplace.publishing.api_models import (
    ActionTypeList,
    ActionTypeView,
    DayView,
    MarketplaceJobList,
    MarketplaceJobRequest,
    MarketplaceJobView,
    MarketplaceJobWithTasks,
    StatisticsView,
)
from spinneret.marketplace.publishing.commands import Command
from spinneret.marketplace.publishing.service import is_task_position
from spinneret.marketplace.publishing.views import job_view, job_with_tasks, submitted_job
from spinneret.marketplace.registry import ACTION_TYPES
from spinneret.marketplace.tasks.api_models import TaskList, TaskView
from spinneret.marketplace.tasks.models import TaskStatus
from spinneret.marketplace.wiring import marketplace_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(marketplace_api)
router = routes.router

Day = Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")]


@router.post(
    "/api/marketplace/jobs",
    **declared(
        Scope.WRITE,
        Permission.PUBLISH_PRODUCT,
        {201: MarketplaceJobView},
        IdempotencyMismatch,
        idempotent=True,
        examples=JOB,
    ),
)
def submit_marketplace_job(request: MarketplaceJobRequest) -> Response[dict[str, Any]]:
    """Perform an action on a marketplace.

    Publishing returns an identical job under way instead of submitting a new one. A product that
    the marketplace's known rules refuse is rejected with its fields (422).
    """
    caller = routes.principal
    command = Command(
        marketplace=request.marketplace,
        action_code=request.action_code,
        product_id=request.product_id,
        input_data=request.input_data,
        publish_at=request.publish_at,
    )
    key = request_key(router, caller, "/api/marketplace/jobs")
    publishing = routes.services.publishing
    return submitted(
        publishing.submit(caller.tenant, command, request.priority, key, submitted_job)
    )


@router.post(
    "/api/marketplace/<marketplace>/import",
    **declared(
        Scope.WRITE,
        Permission.CREATE_PRODUCT,
        {201: MarketplaceJobView},
        IdempotencyMismatch,
        MarketplaceUnsupported,
        idempotent=True,
        examples=IMPORT,
    ),
)
def import_listings(marketplace: str, request: ListingImportRequest) -> Response[dict[str, Any]]:
    """Read the seller's existing listings, and link them to products by SKU, then by title.

    The listings of the job show the outcomes. No listing is taken from the product that has it.
    """
    caller = routes.principal
    key = request_key(router, caller, f"/api/marketplace/{marketplace}/import")
    imports = routes.services.imports
    return submitted(imports.submit(caller.tenant, marketplace, request.create, key, submitted_job))


@router.get(
    "/api/marketplace/jobs/<marketplace_job_id>/listings",
    **declared(Scope.READ, Permission.VIEW_PRODUCTS),
)
def list_imported_listings(
    marketplace_job_id: str,
    outcome: ImportOutcome | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> ImportedListingList:
    """List the listings that an import has read, with their outcomes, by id.

    With `outcome`, a page may have fewer items than `limit` before the last one.
    """
    page = routes.services.imports.page(
        routes.tenant,
        marketplace_job_id,
        outcome,
        position_of(cursor, _is_position),
        limit,
    )
    return ImportedListingList.page(page, ImportedListingView.of)


@router.get("/api/marketplace/jobs", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_marketplace_jobs(
    marketplace: str | None = None,
    status: JobStatus | None = None,
    batch_job_id: str | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> MarketplaceJobList:
    """List jobs, newest first; pages use `cursor` instead of `offset`."""
    page = routes.services.publishing.page(
        routes.tenant, marketplace, status, batch_job_id, position_of(cursor), limit
    )
    return MarketplaceJobList.page(page, job_view)


@router.get(
    "/api/marketplace/jobs/<marketplace_job_id>", **declared(Scope.READ, Permission.VIEW_PRODUCTS)
)
def get_marketplace_job(marketplace_job_id: str) -> MarketplaceJobWithTasks:
    """Return one job and its tasks, ordered by position."""
    publishing = routes.services.publishing
    return job_with_tasks(publishing.get(routes.tenant, marketplace_job_id))


@router.post(
    "/api/marketplace/jobs/<marketplace_job_id>/retry",
    **declared(
        Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: MarketplaceJobWithTasks}, Conflict, Contended
    ),
)
def retry_marketplace_job(marketplace_job_id: str) -> MarketplaceJobWithTasks:
    """Retry a failed job; successful tasks are skipped."""
    return _moved(marketplace_job_id, Transition.RETRY)


@router.post(
    "/api/marketplace/jobs/<marketplace_job_id>/pause",
    **declared(
        Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: MarketplaceJobWithTasks}, Conflict, Contended
    ),
)
def pause_marketplace_job(marketplace_job_id: str) -> MarketplaceJobWithTasks:
    """Pause a job."""
    return _moved(marketplace_job_id, Transition.PAUSE)


@router.post(
    "/api/marketplace/jobs/<marketplace_job_id>/resume",
    **declared(
        Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: MarketplaceJobWithTasks}, Conflict, Contended
    ),
)
def resume_marketplace_job(marketplace_job_id: str) -> MarketplaceJobWithTasks:
    """Resume a paused job."""
    return _moved(marketplace_job_id, Transition.RESUME)


@router.post(
    "/api/marketplace/jobs/<marketplace_job_id>/cancel",
    **declared(
        Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: MarketplaceJobWithTasks}, Conflict, Contended
    ),
)
def cancel_marketplace_job(marketplace_job_id: str) -> MarketplaceJobWithTasks:
    """Cancel a job and its pending tasks. A call under way is reconciled later."""
    return _moved(marketplace_job_id, Transition.CANCEL)


@router.get("/api/marketplace/tasks", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_marketplace_tasks(
    job_id: str | None = None,
    status: TaskStatus | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> TaskList:
    """List a job's tasks by position; without `job_id`, the tasks of the newest jobs."""
    position = position_of(cursor, is_task_position)
    page = routes.services.publishing.tasks(routes.tenant, job_id, status, position, limit)
    return TaskList.page(page, TaskView.of)


@router.get("/api/marketplace/tasks/<task_id>", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def get_marketplace_task(task_id: str) -> TaskView:
    """Return one task."""
    return TaskView.of(routes.services.publishing.task(routes.tenant, task_id))


@router.get("/api/marketplace/action-types", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_action_types() -> ActionTypeList:
    """List the action types and their defaults."""
    return ActionTypeList(items=[ActionTypeView.of(each) for each in ACTION_TYPES.values()])


@router.get("/api/marketplace/statistics", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def get_statistics(day: Day = None) -> StatisticsView:
    """Return how many jobs of each action type ended on a UTC day, by default today."""
    wanted = day or utc_now().date().isoformat()
    found = routes.services.statistics.of_day(routes.tenant, wanted)
    return StatisticsView(day=wanted, items=[DayView.of(each) for each in found])


@router.get("/api/marketplace/listings", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_listings(
    limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None
) -> ListingList:
    """List the listings by product, with differences from the published content."""
    after = position_of(cursor, _is_position)
    page = routes.services.listings.page(routes.tenant, after, limit)
    return ListingList.page(page, ListingView.of)


@router.get("/api/marketplace/orders", **declared(Scope.READ, Permission.VIEW_ORDERS))
def list_orders(limit: Limit = bounds.LIST_LIMIT_DEFAULT, cursor: str | None = None) -> OrderList:
    """List imported order lines; the outcome `conflict` means that the stock was already sold."""
    after = position_of(cursor, _is_position)
    return OrderList.page(routes.services.orders.page(routes.tenant, after, limit), OrderView.of)


def _is_position(text: str) -> bool:
    return 1 <= len(text) <= 250 and text.isprintable()


def _moved(job_id: str, move: Transition) -> MarketplaceJobWithTasks:
    return job_with_tasks(routes.services.publishing.move(routes.tenant, job_id, move))
