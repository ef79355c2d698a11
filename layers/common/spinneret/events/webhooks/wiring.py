"""Choice of the adapters of webhooks."""

from __future__ import annotations

import os
from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.aws.kms import KmsSealer, kms_client
from spinneret.events.webhooks.dynamo import DynamoEndpointStore
from spinneret.events.webhooks.dynamo_deliveries import DynamoDeliveryLog
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.webhooks.sink import WebhookSink
from spinneret.events.webhooks.vault import Vault
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.settings import JobSettings
from spinneret.jobs.wiring import job_service
from spinneret.kernel.clock import utc_now
from spinneret.kernel.ids import id_maker
from spinneret.web.fetching.wiring import FetchSettings, address_policy


@dataclass(frozen=True, kw_only=True)
class SinkSettings(JobSettings):
    """Table of endpoints, and whether this stage offers webhooks."""

    webhooks_table: str
    features__enable_webhooks: bool = True


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(SinkSettings, FetchSettings):
    """Settings with the key that seals secrets."""

    secrets_key_id: str


def webhook_sink(settings: SinkSettings) -> WebhookSink:
    """Return the sink that turns domain events into deliveries."""
    return WebhookSink(
        endpoints=DynamoEndpointStore(dynamodb_client(), settings.webhooks_table),
        jobs=job_service(settings),
        kinds=all_kinds(),
        enabled=settings.features__enable_webhooks,
    )


def webhook_service(settings: WebhookSettings) -> WebhookService:
    """Return the webhook service of this stage."""
    client = dynamodb_client()
    return WebhookService(
        endpoints=DynamoEndpointStore(client, settings.webhooks_table),
        log=DynamoDeliveryLog(client, settings.webhooks_table, settings.jobs_table),
        jobs=job_service(settings),
        vault=vault(settings),
        policy=address_policy(settings),
        clock=utc_now,
        new_id=id_maker(utc_now),
        enabled=settings.features__enable_webhooks,
    )


def vault(settings: WebhookSettings) -> Vault:
    """Return the vault under this stage's key."""
    return Vault(sealer=KmsSealer(kms_client(), settings.secrets_key_id), random=os.urandom)
