"""Routes: batches of marketplace jobs."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from marketplace.marketplace_examples import BATCH, PLAN
from spinneret.access.keys.models import Scope
from spinneret.access.permissions import Permission
from spinneret.jobs.models import JobStatus, Transition
from spinneret.kernel import bounds
from spinneret.kernel.errors import Conflict, Contended, IdempotencyMismatch
from spinneret.kernel.paging import position_of
from spinneret.marketplace.publishing.api_models import (
    BatchJobList,
    BatchJobRequest,
    BatchJobView,
    BatchJobWithJobs,
    PlanView,
)
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.publishing.views import (
    batch_view,
    batch_with_jobs,
    plan_view,
    submitted_batch,
)
from spinneret.marketplace.wiring import marketplace_api
from spinneret.runtime.http.declaration import declared
from spinneret.runtime.http.requests import request_key, submitted
from spinneret.runtime.http.routes import Limit, Routes

routes = Routes(marketplace_api)
router = routes.router


@router.post(
    "/api/batch-jobs",
    **declared(
        Scope.WRITE,
        Permission.PUBLISH_PRODUCT,
        {201: BatchJobView},
        IdempotencyMismatch,
        idempotent=True,
        examples=BATCH,
    ),
)
def submit_batch_job(request: BatchJobRequest) -> Response[dict[str, Any]]:
    """Perform an action for up to 500 products. The batch ends with the last of their jobs."""
    caller = routes.principal
    return submitted(
        _publishing().submit_batch(
            caller.tenant,
            request.marketplace,
            request.action_code,
            request.product_ids,
            request.priority,
            request_key(router, caller, "/api/batch-jobs"),
            submitted_batch,
            request.publish_at,
        )
    )


@router.post(
    "/api/batch-jobs/plan",
    **declared(Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: PlanView}, Contended, examples=PLAN),
)
def plan_batch_job(request: BatchJobRequest) -> PlanView:
    """Return the planned outcome for each product, without changing anything."""
    found = routes.services.planner.plan(
        routes.tenant, request.marketplace, request.action_code, request.product_ids
    )
    return plan_view(request.marketplace, request.action_code, found)


@router.get("/api/batch-jobs", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def list_batch_jobs(
    marketplace: str | None = None,
    status: JobStatus | None = None,
    limit: Limit = bounds.LIST_LIMIT_DEFAULT,
    cursor: str | None = None,
) -> BatchJobList:
    """List batches; pages use `cursor` instead of `offset`."""
    page = _publishing().batches(routes.tenant, marketplace, status, position_of(cursor), limit)
    return BatchJobList.page(page, batch_view)


@router.get("/api/batch-jobs/<batch_id>", **declared(Scope.READ, Permission.VIEW_PRODUCTS))
def get_batch_job(batch_id: str) -> BatchJobWithJobs:
    """Return a batch with its counters and its newest jobs."""
    tenant = routes.tenant
    batch = _publishing().batch(tenant, batch_id)
    jobs = _publishing().page(tenant, None, None, batch_id, None, bounds.LIST_LIMIT_MAX)
    return batch_with_jobs(batch, jobs.items)


@router.post(
    "/api/batch-jobs/<batch_id>/cancel",
    **declared(Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: BatchJobView}, Conflict, Contended),
)
def cancel_batch_job(batch_id: str) -> BatchJobView:
    """Cancel the waiting and running jobs of a batch."""
    return _moved(batch_id, Transition.CANCEL)


@router.post(
    "/api/batch-jobs/<batch_id>/pause",
    **declared(Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: BatchJobView}, Conflict, Contended),
)
def pause_batch_job(batch_id: str) -> BatchJobView:
    """Pause a batch: none of its waiting jobs starts."""
    return _moved(batch_id, Transition.PAUSE)


@router.post(
    "/api/batch-jobs/<batch_id>/resume",
    **declared(Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: BatchJobView}, Conflict, Contended),
)
def resume_batch_job(batch_id: str) -> BatchJobView:
    """Resume a paused batch."""
    return _moved(batch_id, Transition.RESUME)


@router.post(
    "/api/batch-jobs/<batch_id>/retry",
    **declared(Scope.WRITE, Permission.PUBLISH_PRODUCT, {200: BatchJobView}, Conflict, Contended),
)
def retry_batch_job(batch_id: str) -> BatchJobView:
    """Retry only the failed jobs of a batch."""
    return _moved(batch_id, Transition.RETRY)


def _publishing() -> PublishingService:
    return routes.services.publishing


def _moved(batch_id: str, move: Transition) -> BatchJobView:
    return batch_view(_publishing().move_batch(routes.tenant, batch_id, move))
