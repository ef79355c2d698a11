"""Stores of a world: in memory or on tables."""

from dataclasses import dataclass

from spinneret.jobs.driven.dynamo import DynamoSemaphore
from spinneret.jobs.driven.ports import Semaphore
from spinneret.jobs.dynamo import DynamoJobStore
from spinneret.jobs.effects.dynamo import DynamoEffectStore
from spinneret.jobs.ports import EffectStore, JobStore
from spinneret.marketplace.calls.dynamo import DynamoSellerRateLimiter
from spinneret.marketplace.calls.ports import SellerRateLimiter
from spinneret.marketplace.connections.dynamo import DynamoConnections
from spinneret.marketplace.connections.ports import SellerConnectionStore
from spinneret.marketplace.imports.dynamo import DynamoListingImportStore
from spinneret.marketplace.imports.ports import ListingImportStore
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.listings.ports import ListingStore
from spinneret.marketplace.orders.dynamo import DynamoSaleStore
from spinneret.marketplace.orders.ports import SaleStore
from spinneret.marketplace.plugins.dynamo import DynamoPluginStore
from spinneret.marketplace.plugins.ports import PluginStore
from spinneret.marketplace.preferences.dynamo import DynamoPreferences
from spinneret.marketplace.preferences.ports import PreferenceStore
from spinneret.marketplace.products.dynamo import DynamoProductStore
from spinneret.marketplace.products.ports import ProductStore
from spinneret.marketplace.publishing.dynamo import DynamoActionStatistics
from spinneret.marketplace.publishing.statistics import ActionStatisticsStore
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore
from spinneret.marketplace.tasks.ports import TaskStore
from tests.contract.backends import Tables
from tests.fakes.deep_crawling import FakeSemaphore
from tests.fakes.effects import FakeEffectStore
from tests.fakes.jobs import FakeJobStore
from tests.fakes.marketplace import (
    FakeConnections,
    FakeImportStore,
    FakeListingStore,
    FakePluginStore,
    FakePreferences,
    FakeProductStore,
    FakeSaleStore,
    FakeSellerRateLimiter,
    FakeStatistics,
    FakeTaskStore,
)
from tests.fakes.time import late


@dataclass(frozen=True, kw_only=True)
class Stores:
    """The stores of the marketplace area and of its jobs."""

    jobs: JobStore
    effects: EffectStore
    products: ProductStore
    listings: ListingStore
    tasks: TaskStore
    imports: ListingImportStore
    connections: SellerConnectionStore
    preferences: PreferenceStore
    sales: SaleStore
    plugins: PluginStore
    statistics: ActionStatisticsStore
    rate_limiter: SellerRateLimiter
    slots: Semaphore


def in_memory() -> Stores:
    """Return fakes, whose contract is `tests/contract/test_marketplace_stores.py`."""
    jobs, products = FakeJobStore(), FakeProductStore()
    return Stores(
        jobs=jobs,
        effects=FakeEffectStore(jobs),
        products=products,
        listings=FakeListingStore(jobs, products),
        tasks=FakeTaskStore(jobs),
        imports=FakeImportStore(jobs),
        connections=FakeConnections(),
        preferences=FakePreferences(),
        sales=FakeSaleStore(products),
        plugins=FakePluginStore(jobs),
        statistics=FakeStatistics(),
        rate_limiter=FakeSellerRateLimiter(),
        slots=FakeSemaphore(),
    )


def on_tables(tables: Tables) -> Stores:
    """Return the real stores."""
    client, names = tables.client, tables.names
    table, jobs, keys = names["Marketplace"], names["Jobs"], names["Idempotency"]
    return Stores(
        jobs=DynamoJobStore(client, jobs, keys, clock=late),
        effects=DynamoEffectStore(client, jobs, keys),
        products=DynamoProductStore(client, table),
        listings=DynamoListingStore(client, table, jobs),
        tasks=DynamoTaskStore(client, table, jobs),
        imports=DynamoListingImportStore(client, table, jobs),
        connections=DynamoConnections(client, table),
        preferences=DynamoPreferences(client, table),
        sales=DynamoSaleStore(client, table),
        plugins=DynamoPluginStore(client, table, jobs),
        statistics=DynamoActionStatistics(client, table),
        rate_limiter=DynamoSellerRateLimiter(client, table),
        slots=DynamoSemaphore(client, table),
    )
