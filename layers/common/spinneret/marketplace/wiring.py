"""Wire the adapters of the marketplace area."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import uuid4

from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import KmsSealer, kms_client
from spinneret.aws.secrets_manager import JsonSecret, secrets_client
from spinneret.jobs.control import JobControl
from spinneret.jobs.leases import remaining_of
from spinneret.jobs.models import JobRef
from spinneret.jobs.wiring import job_control, job_service
from spinneret.kernel import bounds
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.marketplace import limits
from spinneret.marketplace.calls.dynamo import DynamoSellerRateLimiter
from spinneret.marketplace.calls.service import Hosts, MarketplaceTransport, SellerApiClient
from spinneret.marketplace.connections.dynamo import DynamoConnections
from spinneret.marketplace.connections.models import AccessToken
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.service import ConnectionService
from spinneret.marketplace.connections.tokens import TokenEndpoint, Tokens
from spinneret.marketplace.connections.vault import TokenVault
from spinneret.marketplace.driving_wiring import batch_worker, publishing_store
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.orders.dynamo import DynamoSaleStore
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.products.dynamo import DynamoProductStore
from spinneret.marketplace.products.service import ProductService
from spinneret.marketplace.publishing.dynamo import DynamoStatistics
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult
from spinneret.marketplace.publishing.outlooks import run_preflight
from spinneret.marketplace.publishing.planning import Planner
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.publishing.statistics import StatisticsStore
from spinneret.marketplace.registry import ACTION_TYPES, PLATFORMS, SILENT
from spinneret.marketplace.settings import MarketplaceApiSettings, MarketplaceSettings, hosts_of
from spinneret.marketplace.tasks.dynamo import DynamoTaskStore
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy

BEGIN_SECONDS: Final = 15.0  # of a request's 29 s, for creating its jobs
# No call of a plan begins after ten seconds, so that a request ends within its 29 s.
_ASK_SECONDS: Final = 10.0 + limits.MARKETPLACE_CALL_SECONDS + bounds.DEADLINE_MARGIN_SECONDS


@dataclass(frozen=True, kw_only=True)
class MarketplaceApi:
    """Services that the routes of the area use."""

    products: ProductService
    publishing: PublishingService
    planner: Planner
    jobs: JobControl
    listings: DynamoListingStore
    orders: OrderBook
    connections: ConnectionService
    secrets: ConfiguredSecrets
    statistics: StatisticsStore
    return_url: str


def marketplace_api(env: Mapping[str, str]) -> MarketplaceApi:
    """Build the services of the marketplace API."""
    settings = MarketplaceApiSettings.from_env(env)
    client, table = dynamodb_client(), settings.marketplace_table
    products = DynamoProductStore(client, table)
    listings = DynamoListingStore(client, table, settings.jobs_table)
    batches = batch_worker(settings, publishing_store(settings), settings.publish_machine)
    publishing = publishing_service(
        settings, lambda ref: batches.run(ref, remaining_of(BEGIN_SECONDS, time.monotonic))
    )
    return MarketplaceApi(
        products=ProductService(
            store=products,
            listings=listings,
            marketplaces=frozenset(PLATFORMS),
            clock=utc_now,
            new_id=id_maker(utc_now),
        ),
        publishing=publishing,
        planner=Planner(
            products=products,
            listings=listings,
            platforms=PLATFORMS,
            actions=ACTION_TYPES,
            ask_before=partial(_asked_before, settings, tokens(settings)),
        ),
        jobs=job_control(settings, publishing_store(settings)),
        listings=listings,
        orders=order_book(settings, publishing),
        connections=ConnectionService(
            store=DynamoConnections(client, table),
            secrets=client_secrets(settings),
            vault=token_vault(settings),
            endpoint=TokenEndpoint(door(settings)),
            apps={name: each.app for name, each in PLATFORMS.items() if each.app is not None},
            hosts=hosts(settings),
            clock=utc_now,
            random=os.urandom,
        ),
        secrets=client_secrets(settings),
        statistics=DynamoStatistics(client, table),
        return_url=settings.marketplace_return_url,
    )


def publishing_service(
    settings: MarketplaceSettings, begin_batch: Callable[[JobRef], None] | None = None
) -> PublishingService:
    """Build the service of jobs, tasks and batches of this stage."""
    client, table = dynamodb_client(), settings.marketplace_table
    store = publishing_store(settings)
    return PublishingService(
        jobs=job_service(settings),
        control=job_control(settings, store),
        products=DynamoProductStore(client, table),
        listings=DynamoListingStore(client, table, settings.jobs_table),
        tasks=DynamoTaskStore(client, table, settings.jobs_table),
        actions=ACTION_TYPES,
        begin_batch=begin_batch,
        clock=utc_now,
        new_hex=lambda: uuid4().hex,
    )


def order_book(settings: MarketplaceSettings, publishing: PublishingService) -> OrderBook:
    """Build the order book of this stage."""
    client, table = dynamodb_client(), settings.marketplace_table
    return OrderBook(
        sales=DynamoSaleStore(client, table),
        products=DynamoProductStore(client, table),
        listings=DynamoListingStore(client, table, settings.jobs_table),
        jobs=publishing,
        clock=utc_now,
        silent=SILENT,
    )


def hosts(settings: MarketplaceSettings) -> Hosts:
    """Return the origins of all marketplaces' hosts."""
    known = {name: origin for each in PLATFORMS.values() for name, origin in each.hosts.items()}
    return hosts_of(settings, known)


def fetcher(settings: MarketplaceSettings) -> GuardedFetcher:
    """Build the guarded fetcher."""
    return GuardedFetcher(
        policy=address_policy(settings),
        resolver=resolve_by_system,
        user_agent=settings.user_agent,
        monotonic=time.monotonic,
    )


def door(settings: MarketplaceSettings) -> MarketplaceTransport:
    """Build the transport to the marketplaces' hosts."""
    return MarketplaceTransport(fetcher=fetcher(settings), hosts=hosts(settings))


def client_secrets(settings: MarketplaceSettings) -> ConfiguredSecrets:
    """Build the source of this application's client credentials."""
    secret = JsonSecret(secrets_client(), settings.marketplace_secret, time.monotonic)
    return ConfiguredSecrets(secret.value)


def token_vault(settings: MarketplaceSettings) -> TokenVault:
    """Build the vault that seals tokens with this stage's key."""
    return TokenVault(KmsSealer(kms_client(), settings.secrets_key_id))


def tokens(settings: MarketplaceSettings) -> Tokens:
    """Build the source of connections' tokens."""
    return Tokens(
        store=DynamoConnections(dynamodb_client(), settings.marketplace_table),
        secrets=client_secrets(settings),
        vault=token_vault(settings),
        endpoint=TokenEndpoint(door(settings)),
        apps={name: each.app for name, each in PLATFORMS.items() if each.app is not None},
        clock=utc_now,
    )


def signing(marketplace: str) -> Callable[[AccessToken], Mapping[str, str]]:
    """Return the function that builds the headers of a marketplace's authorised calls."""
    app = PLATFORMS[marketplace].app
    return _unsigned if app is None else app.sign


def _unsigned(_: AccessToken) -> Mapping[str, str]:
    return {}


def _asked_before(
    settings: MarketplaceSettings,
    access: Tokens,
    tenant: str,
    marketplace: str,
    candidates: Sequence[PlannedListing],
) -> Mapping[str, PreflightResult]:
    calls = SellerApiClient(
        door=door(settings),
        pace=DynamoSellerRateLimiter(dynamodb_client(), settings.marketplace_table),
        access=access,
        sign=signing(marketplace),
        tenant=tenant,
        marketplace=marketplace,
        remaining=remaining_of(_ASK_SECONDS, time.monotonic),
        clock=utc_now,
        sleep=time.sleep,
    )
    return run_preflight(PLATFORMS[marketplace], calls, candidates)
