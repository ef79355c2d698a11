"""Wire the adapters of the pass over all sellers' orders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.jobs.wiring import job_control, job_service
from spinneret.kernel.clock import utc_now
from spinneret.marketplace.connections.dynamo import DynamoConnections
from spinneret.marketplace.driving_wiring import PublishingSettings, publishing_store
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.orders.dynamo import DynamoSaleStore
from spinneret.marketplace.orders.polling import OrderPolling, PollResult
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.products.dynamo import DynamoProductStore
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.registry import ACTION_TYPES, READ, SILENT
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore


@dataclass(frozen=True, kw_only=True)
class OrderPollingSettings(PublishingSettings):
    """Settings of the pass."""

    order_polling_enabled: bool = True


def order_polling(env: Mapping[str, str]) -> Callable[[], PollResult]:
    """Build the scheduled pass, which does nothing unless it is enabled."""
    settings = OrderPollingSettings.from_env(env)
    if not settings.order_polling_enabled:
        return lambda: PollResult(enabled=False)
    client, table = dynamodb_client(), settings.marketplace_table
    store, sales = publishing_store(settings), DynamoSaleStore(client, table)
    products = DynamoProductStore(client, table)
    listings = DynamoListingStore(client, table, settings.jobs_table)
    publishing = PublishingService(
        jobs=job_service(settings),
        control=job_control(settings, store),
        products=products,
        listings=listings,
        tasks=DynamoTaskStore(client, table, settings.jobs_table),
        actions=ACTION_TYPES,
        begin_batch=None,
        clock=utc_now,
        new_hex=lambda: uuid4().hex,
    )
    book = OrderBook(
        sales=sales,
        products=products,
        listings=listings,
        jobs=publishing,
        clock=utc_now,
        silent=SILENT,
    )
    return OrderPolling(
        sales=sales,
        connections=DynamoConnections(client, table),
        book=book,
        jobs=publishing,
        marketplaces=READ,
    ).run
