"""Wire the adapters of the marketplace area."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from spinneret.aws.secrets_manager import JsonSecret
from spinneret.aws.stage import SECRETS_KEY_ID, Stage, reads
from spinneret.jobs.control import JobControl
from spinneret.jobs.leases import remaining_of
from spinneret.jobs.wiring import job_control
from spinneret.kernel import bounds
from spinneret.kernel.settings import SettingsError, names, text
from spinneret.marketplace import limits
from spinneret.marketplace.calls.dynamo import DynamoSellerRateLimiter
from spinneret.marketplace.calls.service import (
    Hosts,
    MarketplaceTransport,
    SellerApiClient,
    SellerApiClients,
)
from spinneret.marketplace.connections.models import OAuthApp
from spinneret.marketplace.connections.secrets import ConfiguredSecrets
from spinneret.marketplace.connections.service import ConnectionService
from spinneret.marketplace.connections.tokens import SellerTokens, TokenEndpoint
from spinneret.marketplace.connections.vault import TokenVault
from spinneret.marketplace.driving_wiring import (
    PUBLISH_MACHINE,
    PUBLISHING,
    batch_worker,
    publishing_store,
)
from spinneret.marketplace.imports.service import ListingImportService
from spinneret.marketplace.listings.dynamo import DynamoListingStore
from spinneret.marketplace.orders.service import OrderBook
from spinneret.marketplace.preferences.service import PreferenceService
from spinneret.marketplace.products.service import ProductService
from spinneret.marketplace.publishing.choices import ChoiceReader
from spinneret.marketplace.publishing.dynamo import DynamoActionStatistics
from spinneret.marketplace.publishing.models import PlannedListing, PreflightResult
from spinneret.marketplace.publishing.planning import Planner
from spinneret.marketplace.publishing.preflight import run_preflight
from spinneret.marketplace.publishing.service import PublishingService
from spinneret.marketplace.publishing.statistics import ActionStatisticsStore
from spinneret.marketplace.publishing.wiring import MARKETPLACE_TABLE
from spinneret.marketplace.publishing_wiring import (
    connection_store,
    import_store,
    listing_store,
    order_book,
    preference_store,
    product_service,
    product_store,
    publishing_service,
    seller_jobs,
)
from spinneret.marketplace.registry import ACTION_TYPES, CHOICES, NOT_IMPORTED, PLATFORMS
from spinneret.marketplace.reports import ReportService
from spinneret.web.fetching.worker_wiring import FETCHING, guarded_fetcher

BEGIN_SECONDS: Final = 15.0  # of a request's 29 s, for creating its jobs
# No call of a plan begins after ten seconds, so that a request ends within its 29 s.
_ASK_SECONDS: Final = 10.0 + limits.MARKETPLACE_CALL_SECONDS + bounds.DEADLINE_MARGIN_SECONDS

MARKETPLACE_SECRET: Final = text("MARKETPLACE_SECRET")
"""ARN of the secret that holds the client ids and secrets."""
MARKETPLACE_HOSTS: Final = names("MARKETPLACE_HOSTS", frozenset())
"""Pairs `name=origin`, such as `ebay.api=https://api.sandbox.ebay.com`: each replaces a host's
origin."""
MARKETPLACE_RETURN_URL: Final = text("MARKETPLACE_RETURN_URL")
"""Where a seller's browser goes after a callback."""
CALLING: Final = (*FETCHING, SECRETS_KEY_ID, MARKETPLACE_SECRET, MARKETPLACE_HOSTS)


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
    preferences: PreferenceService
    choices: ChoiceReader
    imports: ListingImportService
    reports: ReportService
    statistics: ActionStatisticsStore
    return_url: str


@reads(*PUBLISHING, *CALLING, PUBLISH_MACHINE, MARKETPLACE_RETURN_URL)
def marketplace_api(stage: Stage) -> MarketplaceApi:
    """Build the services of the marketplace API."""
    listings = listing_store(stage)
    store = publishing_store(stage)
    batches = batch_worker(stage, store)
    publishing = publishing_service(
        stage, lambda ref: batches.run(ref, remaining_of(BEGIN_SECONDS, time.monotonic))
    )
    connections, clients = connection_service(stage), api_clients(stage)
    return MarketplaceApi(
        products=product_service(stage),
        publishing=publishing,
        planner=Planner(
            products=product_store(stage),
            listings=listings,
            preferences=preference_store(stage),
            platforms=PLATFORMS,
            actions=ACTION_TYPES,
            run_preflight=partial(_preflight_of_request, clients),
        ),
        jobs=job_control(stage, store),
        listings=listings,
        orders=order_book(stage),
        connections=connections,
        preferences=PreferenceService(
            store=preference_store(stage), marketplaces=CHOICES, clock=stage.clock
        ),
        imports=ListingImportService(
            jobs=publishing, rows=import_store(stage), reasons=NOT_IMPORTED
        ),
        choices=ChoiceReader(
            choosing={name: each.choosing for name, each in PLATFORMS.items()},
            calls=partial(_client_of_request, clients),
        ),
        reports=ReportService(
            connections=connections,
            secrets=client_secrets(stage),
            jobs=seller_jobs(stage),
            clock=stage.clock,
        ),
        statistics=DynamoActionStatistics(stage.dynamodb, stage[MARKETPLACE_TABLE]),
        return_url=stage[MARKETPLACE_RETURN_URL],
    )


@reads(*CALLING, MARKETPLACE_TABLE)
def connection_service(stage: Stage) -> ConnectionService:
    """Build the service of sellers' connections."""
    return ConnectionService(
        store=connection_store(stage),
        secrets=client_secrets(stage),
        vault=TokenVault(sealer=stage.sealer),
        endpoint=TokenEndpoint(transport=transport(stage)),
        apps=_apps(),
        hosts=hosts(stage),
        clock=stage.clock,
        random=os.urandom,
    )


def hosts(stage: Stage) -> Hosts:
    """Return the origins of all marketplaces' hosts.

    Raises SettingsError for a name that no marketplace has.
    """
    known = {name: origin for each in PLATFORMS.values() for name, origin in each.hosts.items()}
    given = dict(each.partition("=")[::2] for each in stage[MARKETPLACE_HOSTS])
    if unknown := sorted(given.keys() - known.keys()):
        raise SettingsError(f"environment variable MARKETPLACE_HOSTS: no host {unknown[0]}")
    return {**known, **given}


def transport(stage: Stage) -> MarketplaceTransport:
    """Build the transport to the marketplaces' hosts."""
    return MarketplaceTransport(fetcher=guarded_fetcher(stage), hosts=hosts(stage))


def client_secrets(stage: Stage) -> ConfiguredSecrets:
    """Build the source of this application's client credentials."""
    secret = JsonSecret(stage.secrets, stage[MARKETPLACE_SECRET], time.monotonic)
    return ConfiguredSecrets(read=secret.value)


def tokens(stage: Stage) -> SellerTokens:
    """Build the source of connections' tokens."""
    return SellerTokens(
        store=connection_store(stage),
        secrets=client_secrets(stage),
        vault=TokenVault(sealer=stage.sealer),
        endpoint=TokenEndpoint(transport=transport(stage)),
        apps=_apps(),
        clock=stage.clock,
    )


def _apps() -> Mapping[str, OAuthApp]:
    return {name: each.app for name, each in PLATFORMS.items() if each.app is not None}


def api_clients(stage: Stage) -> SellerApiClients:
    """Build the maker of sellers' clients."""
    return SellerApiClients(
        transport=transport(stage),
        rate_limiter=DynamoSellerRateLimiter(stage.dynamodb, stage[MARKETPLACE_TABLE]),
        tokens=tokens(stage),
        apps=_apps(),
        clock=stage.clock,
        sleep=time.sleep,
    )


def _preflight_of_request(
    clients: SellerApiClients,
    tenant: str,
    marketplace: str,
    candidates: Sequence[PlannedListing],
) -> Mapping[str, PreflightResult]:
    calls = _client_of_request(clients, tenant, marketplace)
    return run_preflight(PLATFORMS[marketplace], calls, candidates)


def _client_of_request(clients: SellerApiClients, tenant: str, marketplace: str) -> SellerApiClient:
    """Build the client of a request, which has ten seconds for its calls."""
    return clients.client(tenant, marketplace, remaining_of(_ASK_SECONDS, time.monotonic))
