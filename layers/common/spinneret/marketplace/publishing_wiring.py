"""Wire the services of jobs and orders, which need no fetcher, and the pass over all orders."""

from collections.abc import Callable
from typing import Final

from spinneret.aws.stage import Stage, reads
from spinneret.jobs.models import JobRef
from spinneret.jobs.wiring import JOBS_TABLE, SUBMISSION, job_control, job_service
from spinneret.kernel.settings import flag
from spinneret.marketplace.connections.dynamo import DynamoConnections
from spinneret.marketplace.driving_wiring import publishing_store
from spinneret.marketplace.imports.dynamo import DynamoListingImportStore
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.orders.dynamo import DynamoSaleStore
from spinneret.marketplace.orders.polling import OrderPolling, PollResult
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.preferences.dynamo import DynamoPreferences
from spinneret.marketplace.products.dynamo import DynamoProductStore
from spinneret.marketplace.products.service import ProductService
from spinneret.marketplace.publishing.drafting import Drafter
from spinneret.marketplace.publishing.seller_jobs import SellerJobService
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.marketplace.registry import ACTION_TYPES, CHOICES, PLATFORMS, READ, SILENT
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore

ENABLED: Final = flag("ORDER_POLLING_ENABLED", default=True)


def product_store(stage: Stage) -> DynamoProductStore:
    """Build the store of products."""
    return DynamoProductStore(stage.dynamodb, stage[MARKETPLACE_TABLE])


def listing_store(stage: Stage) -> DynamoListingStore:
    """Build the store of listings."""
    return DynamoListingStore(stage.dynamodb, stage[MARKETPLACE_TABLE], stage[JOBS_TABLE])


def product_service(stage: Stage) -> ProductService:
    """Build the service of products."""
    return ProductService(
        store=product_store(stage),
        listings=listing_store(stage),
        marketplaces=CHOICES,
        clock=stage.clock,
        new_id=stage.new_id,
    )


def import_store(stage: Stage) -> DynamoListingImportStore:
    """Build the store of imports."""
    return DynamoListingImportStore(stage.dynamodb, stage[MARKETPLACE_TABLE], stage[JOBS_TABLE])


def task_store(stage: Stage) -> DynamoTaskStore:
    """Build the store of tasks."""
    return DynamoTaskStore(stage.dynamodb, stage[MARKETPLACE_TABLE], stage[JOBS_TABLE])


def connection_store(stage: Stage) -> DynamoConnections:
    """Build the store of connections."""
    return DynamoConnections(stage.dynamodb, stage[MARKETPLACE_TABLE])


def preference_store(stage: Stage) -> DynamoPreferences:
    """Build the store of preferences."""
    return DynamoPreferences(stage.dynamodb, stage[MARKETPLACE_TABLE])


def drafter(stage: Stage) -> Drafter:
    """Build the drafter of jobs and batches."""
    return Drafter(
        products=product_store(stage),
        listings=listing_store(stage),
        preferences=preference_store(stage),
        actions=ACTION_TYPES,
        checks={name: platform.check for name, platform in PLATFORMS.items()},
        clock=stage.clock,
        new_hex=stage.new_token,
    )


def publishing_service(stage: Stage, begin_batch: Callable[[JobRef], None]) -> PublishingService:
    """Build the service of jobs, tasks and batches of this stage."""
    return PublishingService(
        jobs=job_service(stage),
        control=job_control(stage, publishing_store(stage)),
        products=product_store(stage),
        task_store=task_store(stage),
        drafter=drafter(stage),
        begin_batch=begin_batch,
    )


def seller_jobs(stage: Stage) -> SellerJobService:
    """Build the service of the jobs that no request of a seller submits."""
    return SellerJobService(jobs=job_service(stage), drafter=drafter(stage))


def order_book(stage: Stage) -> OrderBook:
    """Build the order book of this stage."""
    return OrderBook(
        sales=DynamoSaleStore(stage.dynamodb, stage[MARKETPLACE_TABLE]),
        products=product_store(stage),
        listings=listing_store(stage),
        preferences=preference_store(stage),
        jobs=seller_jobs(stage),
        clock=stage.clock,
        silent=SILENT,
    )


@reads(*SUBMISSION, MARKETPLACE_TABLE, ENABLED)
def order_polling(stage: Stage) -> Callable[[], PollResult]:
    """Build the scheduled pass, which does nothing unless it is enabled."""
    if not stage[ENABLED]:
        return lambda: PollResult(enabled=False)
    return OrderPolling(
        sales=DynamoSaleStore(stage.dynamodb, stage[MARKETPLACE_TABLE]),
        connections=connection_store(stage),
        book=order_book(stage),
        jobs=seller_jobs(stage),
        marketplaces=READ,
    ).run
