"""Choice of the delivery worker's adapters.

It is separate from the API's wiring, whose functions don't include the fetcher.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.events.webhooks.delivery import DeliveryHandler
from spinneret.events.webhooks.dynamo import DynamoEndpointStore
from spinneret.events.webhooks.dynamo_deliveries import DynamoCooldowns, DynamoDeliveryLog
from spinneret.events.webhooks.kinds import DELIVERY
from spinneret.events.webhooks.wiring import WebhookSettings, vault
from spinneret.jobs.wiring import pushing_store, worker
from spinneret.jobs.worker import Worker
from spinneret.kernel.clock import utc_now
from spinneret.web.fetching.http import GuardedFetcher
from spinneret.web.fetching.resolver import resolve_by_system
from spinneret.web.fetching.wiring import address_policy


@dataclass(frozen=True, kw_only=True)
class DeliveryWorkerSettings(WebhookSettings):
    """The delivery worker's environment."""

    user_agent: str


def delivery_worker(env: Mapping[str, str]) -> Worker:
    """Return a worker for the delivery lane."""
    settings = DeliveryWorkerSettings.from_env(env)
    client = dynamodb_client()
    handler = DeliveryHandler(
        endpoints=DynamoEndpointStore(client, settings.webhooks_table),
        log=DynamoDeliveryLog(client, settings.webhooks_table, settings.jobs_table),
        cooldowns=DynamoCooldowns(client, settings.webhooks_table),
        fetcher=GuardedFetcher(
            policy=address_policy(settings),
            resolver=resolve_by_system,
            user_agent=settings.user_agent,
            monotonic=time.monotonic,
        ),
        vault=vault(settings),
        clock=utc_now,
        random=random.random,
    )
    return worker(settings, {DELIVERY: handler}, pushing_store(settings))
