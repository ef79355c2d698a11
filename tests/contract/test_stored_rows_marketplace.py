"""Rows of listings, tasks, connections, sales and plug-ins, as stored."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from spinneret.marketplace.connections.dynamo import CONNECTIONS, CONSENTS
from spinneret.marketplace.connections.models import (
    ConnectionStatus,
    PendingConsent,
    SellerConnection,
)
from spinneret.marketplace.imports.dynamo import IMPORTED
from spinneret.marketplace.imports.models import ImportedListing, ImportOutcome
from spinneret.marketplace.listings.dynamo import LISTINGS
from spinneret.marketplace.listings.models import Drift, Listing, ListingState
from spinneret.marketplace.orders.dynamo import SALES
from spinneret.marketplace.orders.models import Adjustment, AdjustmentState, Sale, SaleOutcome
from spinneret.marketplace.plugins.dynamo import PLUGINS
from spinneret.marketplace.plugins.models import Plugin
from spinneret.marketplace.preferences.dynamo import PREFERENCES
from spinneret.marketplace.preferences.models import Preferences
from spinneret.marketplace.tasks.dynamo import TASKS
from spinneret.marketplace.tasks.models import Reason, Task, TaskStatus, TaskType
from tests.contract.exact_rows import check_read, check_row
from tests.rows import each_row

NOW: Final = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
LATER: Final = datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)

UNLISTED: Final = Listing(
    tenant="acme", product_id="product_1", marketplace="ebay", sku="SKU-1", version=1
)
LISTED: Final = replace(
    UNLISTED,
    state=ListingState.ACTIVE,
    external_id="110",
    reference="offer_1",
    images={"https://i.example/1": "https://ebay.example/1"},
    url="https://ebay.example/110",
    digest="d",
    generation=2,
    intent_job="job_1",
    intent_at=NOW,
    attempted_at=NOW,
    attempted_titles=("Ä", "b"),
    drift=(Drift(field="price", ours="10.00", theirs="12.00"),),
    revised_on="2026-01-02",
    revisions=3,
    last_sync_at=LATER,
    updated_at=LATER,
    version=7,
)

PENDING: Final = Task(
    tenant="acme",
    job_id="job_1",
    position=3,
    key="create",
    task_type=TaskType.DIRECT_HTTP,
    description="d",
    platform="ebay",
    product_id=None,
    created_at=NOW,
)
FAILED: Final = replace(
    PENDING,
    product_id="product_1",
    http_method="POST",
    path="/x",
    payload={"price": 0.5, "none": None},
    digest="d",
    status=TaskStatus.FAILED,
    reason=Reason.NEEDS_INPUT,
    result={"ids": ["1"]},
    retry_count=2,
    error_message="m",
    error_details={"field": "ä"},
    started_at=NOW,
    completed_at=LATER,
)

CONNECTED: Final = SellerConnection(
    tenant="acme",
    marketplace="ebay",
    status=ConnectionStatus.ACTIVE,
    sealed_access=(b"\0a",),
    sealed_refresh=(),
    scopes=(),
    account=None,
    expires_at=NOW,
    refresh_expires_at=None,
    connected_at=NOW,
)
REFRESHING: Final = replace(
    CONNECTED,
    status=ConnectionStatus.NEEDS_REAUTH,
    sealed_refresh=(b"r1", b"r2"),
    scopes=("read", "write"),
    account="seller_1",
    refresh_expires_at=LATER,
    settings={"policies": {"shipping": 1}, "ä": None},
    refreshing_until=LATER,
    version=9,
)
CONSENT: Final = PendingConsent(
    tenant="acme",
    state_hash="h",
    marketplace="ebay",
    sealed_verifier=(b"v",),
    expires_at=LATER,
)

UNMATCHED: Final = Sale(
    tenant="acme",
    marketplace="ebay",
    order_id="o-1",
    line_id="1",
    sku="SKU-1",
    quantity=1,
    sold_at="2026-01-02T03:04:05Z",
)
SOLD: Final = replace(
    UNMATCHED,
    product_id="product_1",
    outcome=SaleOutcome.CONFLICT,
    conflicts_with=("etsy:o-2",),
    adjustments=(
        Adjustment(marketplace="etsy", job_id="job_1", asked_at=NOW),
        Adjustment(
            marketplace="vinted",
            job_id="job_2",
            asked_at=LATER,
            times=2,
            state=AdjustmentState.DONE,
        ),
    ),
    handled=True,
    recorded_at="2026-01-02T04:04:05Z",
    version=2,
)

PLUGIN: Final = Plugin(
    tenant="acme", connection_id="c1=", marketplace="vinted", connected_at=NOW, browser="b"
)


@each_row(
    [
        (
            "a new listing",
            (
                LISTINGS,
                UNLISTED,
                {
                    "pk": "T#acme#LISTINGS",
                    "sk": "product_1#ebay",
                    "product_id": "product_1",
                    "marketplace": "ebay",
                    "sku": "SKU-1",
                    "state": "creating",
                    "images": {},
                    "generation": 1,
                    "drift": [],
                    "revisions": 0,
                    "version": 1,
                },
            ),
        ),
        (
            "a listing with drift",
            (
                LISTINGS,
                LISTED,
                {
                    "pk": "T#acme#LISTINGS",
                    "sk": "product_1#ebay",
                    "product_id": "product_1",
                    "marketplace": "ebay",
                    "sku": "SKU-1",
                    "state": "active",
                    "external_id": "110",
                    "reference": "offer_1",
                    "images": {
                        "https://i.example/1": "https://ebay.example/1",
                    },
                    "url": "https://ebay.example/110",
                    "digest": "d",
                    "generation": 2,
                    "intent_job": "job_1",
                    "attempted_titles": ["Ä", "b"],
                    "drift": [["price", "10.00", "12.00"]],
                    "revised_on": "2026-01-02",
                    "revisions": 3,
                    "version": 7,
                    "intent_at": "2026-01-02T03:04:05.678901Z",
                    "attempted_at": "2026-01-02T03:04:05.678901Z",
                    "last_sync_at": "2026-01-02T04:04:05.000000Z",
                    "updated_at": "2026-01-02T04:04:05.000000Z",
                },
            ),
        ),
        (
            "a pending task",
            (
                TASKS,
                PENDING,
                {
                    "pk": "T#acme#TASKS#job_1",
                    "sk": "003",
                    "step": "create",
                    "task_type": "direct_http",
                    "description": "d",
                    "platform": "ebay",
                    "payload": "{}",
                    "digest": "",
                    "status": "pending",
                    "retry_count": 0,
                    "error_details": "{}",
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "purge_at": 1775099045,
                },
            ),
        ),
        (
            "a failed task",
            (
                TASKS,
                FAILED,
                {
                    "pk": "T#acme#TASKS#job_1",
                    "sk": "003",
                    "step": "create",
                    "task_type": "direct_http",
                    "description": "d",
                    "platform": "ebay",
                    "product_id": "product_1",
                    "http_method": "POST",
                    "path": "/x",
                    "payload": '{"price":0.5,"none":null}',
                    "digest": "d",
                    "status": "failed",
                    "reason": "needs_input",
                    "result": '{"ids":["1"]}',
                    "retry_count": 2,
                    "error_message": "m",
                    "error_details": '{"field":"ä"}',
                    "created_at": "2026-01-02T03:04:05.678901Z",
                    "started_at": "2026-01-02T03:04:05.678901Z",
                    "completed_at": "2026-01-02T04:04:05.000000Z",
                    "purge_at": 1775102645,
                },
            ),
        ),
        (
            "a connection",
            (
                CONNECTIONS,
                CONNECTED,
                {
                    "pk": "T#acme#CONNECTIONS",
                    "sk": "ebay",
                    "status": "active",
                    "access": [b"\x00a"],
                    "refresh": [],
                    "scopes": [],
                    "expires_at": "2026-01-02T03:04:05.678901Z",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "settings": "{}",
                    "version": 0,
                },
            ),
        ),
        (
            "a connection that is refreshed",
            (
                CONNECTIONS,
                REFRESHING,
                {
                    "pk": "T#acme#CONNECTIONS",
                    "sk": "ebay",
                    "status": "needs_reauth",
                    "access": [b"\x00a"],
                    "refresh": [b"r1", b"r2"],
                    "scopes": ["read", "write"],
                    "account": "seller_1",
                    "expires_at": "2026-01-02T03:04:05.678901Z",
                    "refresh_expires_at": "2026-01-02T04:04:05.000000Z",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "settings": '{"policies":{"shipping":1},"ä":null}',
                    "refreshing_until": "2026-01-02T04:04:05.000000Z",
                    "version": 9,
                },
            ),
        ),
        (
            "preferences with a choice",
            (
                PREFERENCES,
                Preferences(tenant="a", marketplace="etsy", version=1, choices={"a": "1"}),
                {
                    "pk": "T#a#PREFERENCES",
                    "sk": "etsy",
                    "choices": {"a": "1"},
                    "version": 1,
                },
            ),
        ),
        (
            "an imported listing",
            (
                IMPORTED,
                ImportedListing(
                    tenant="acme",
                    job_id="job_1",
                    external_id="901",
                    title="Coat",
                    sku=None,
                    url=None,
                    at=NOW,
                    outcome=ImportOutcome.CONFLICT,
                    rivals=("prd_1",),
                    reason="two",
                ),
                {
                    "pk": "T#acme#IMPORTED#job_1",
                    "sk": "901",
                    "title": "Coat",
                    "at": "2026-01-02T03:04:05.678901Z",
                    "outcome": "conflict",
                    "rivals": ["prd_1"],
                    "reason": "two",
                    "purge_at": 1775099045,
                },
            ),
        ),
        (
            "preferences",
            (
                PREFERENCES,
                Preferences(tenant="acme", marketplace="ebay", paused_at=NOW, version=2),
                {
                    "pk": "T#acme#PREFERENCES",
                    "sk": "ebay",
                    "paused_at": "2026-01-02T03:04:05.678901Z",
                    "version": 2,
                },
            ),
        ),
        (
            "a consent",
            (
                CONSENTS,
                CONSENT,
                {
                    "pk": "T#acme#CONSENTS",
                    "sk": "h",
                    "marketplace": "ebay",
                    "verifier": [b"v"],
                    "expires_at": "2026-01-02T04:04:05.000000Z",
                    "purge_at": 1767326645,
                },
            ),
        ),
        (
            "a sale without a product",
            (
                SALES,
                UNMATCHED,
                {
                    "pk": "T#acme#ORDERS",
                    "sk": "ebay#o-1#1",
                    "sku": "SKU-1",
                    "quantity": 1,
                    "sold_at": "2026-01-02T03:04:05Z",
                    "state": "paid",
                    "outcome": "unknown_product",
                    "conflicts_with": [],
                    "adjustments": [],
                    "handled": False,
                    "recorded_at": "",
                    "version": 0,
                },
            ),
        ),
        (
            "a sale with adjustments",
            (
                SALES,
                SOLD,
                {
                    "pk": "T#acme#ORDERS",
                    "sk": "ebay#o-1#1",
                    "sku": "SKU-1",
                    "quantity": 1,
                    "sold_at": "2026-01-02T03:04:05Z",
                    "state": "paid",
                    "product_id": "product_1",
                    "outcome": "conflict",
                    "conflicts_with": ["etsy:o-2"],
                    "adjustments": [
                        {
                            "marketplace": "etsy",
                            "job_id": "job_1",
                            "asked_at": "2026-01-02T03:04:05.678901Z",
                            "times": 1,
                            "state": "open",
                        },
                        {
                            "marketplace": "vinted",
                            "job_id": "job_2",
                            "asked_at": "2026-01-02T04:04:05.000000Z",
                            "times": 2,
                            "state": "done",
                        },
                    ],
                    "handled": True,
                    "recorded_at": "2026-01-02T04:04:05Z",
                    "version": 2,
                },
            ),
        ),
        (
            "a plug-in",
            (
                PLUGINS,
                PLUGIN,
                {
                    "pk": "T#acme#PLUGINS",
                    "sk": "vinted#c1=",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "browser": "b",
                    "purge_at": 1767333845,
                },
            ),
        ),
        (
            "a plug-in of a ticket",
            (
                PLUGINS,
                replace(PLUGIN, only_job="job_1"),
                {
                    "pk": "T#acme#PLUGINS",
                    "sk": "vinted#c1=",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "browser": "b",
                    "purge_at": 1767333845,
                    "only_job": "job_1",
                },
            ),
        ),
    ]
)
def test_rows_are_written_and_read_as_before(row: Any) -> None:
    check_row(*row)


@each_row(
    [
        (
            "settings as a release wrote them with blanks",
            (
                CONNECTIONS,
                REFRESHING,
                {
                    "pk": "T#acme#CONNECTIONS",
                    "sk": "ebay",
                    "status": "needs_reauth",
                    "access": [b"\x00a"],
                    "refresh": [b"r1", b"r2"],
                    "scopes": ["read", "write"],
                    "account": "seller_1",
                    "expires_at": "2026-01-02T03:04:05.678901Z",
                    "refresh_expires_at": "2026-01-02T04:04:05.000000Z",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "settings": '{"policies": {"shipping": 1}, "\\u00e4": null}',
                    "refreshing_until": "2026-01-02T04:04:05.000000Z",
                    "version": 9,
                },
            ),
        ),
        (
            "a sale before versions existed",
            (
                SALES,
                UNMATCHED,
                {
                    "pk": "T#acme#ORDERS",
                    "sk": "ebay#o-1#1",
                    "sku": "SKU-1",
                    "quantity": 1,
                    "sold_at": "2026-01-02T03:04:05Z",
                    "outcome": "unknown_product",
                    "conflicts_with": [],
                    "handled": False,
                    "recorded_at": "",
                },
            ),
        ),
        (
            "a plug-in without a browser",
            (
                PLUGINS,
                replace(PLUGIN, browser=""),
                {
                    "pk": "T#acme#PLUGINS",
                    "sk": "vinted#c1=",
                    "connected_at": "2026-01-02T03:04:05.678901Z",
                    "purge_at": 1767333845,
                },
            ),
        ),
    ]
)
def test_rows_of_earlier_releases_are_read(row: Any) -> None:
    check_read(*row)
