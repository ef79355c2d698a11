"""Choice of the adapters of webhooks and of the sinks of domain events.

Every function that relays events has all sinks.
"""

import os
from typing import Final

from spinneret.aws.stage import SECRETS_KEY_ID, Stage
from spinneret.events.bus.eventbridge import EventBridgeBus, bus_client
from spinneret.events.clients.sink import ClientSink
from spinneret.events.webhooks.dynamo import DynamoEndpointStore
from spinneret.events.webhooks.dynamo_deliveries import DynamoDeliveryLog
from spinneret.events.webhooks.service import WebhookService
from spinneret.events.webhooks.sink import WebhookSink
from spinneret.events.webhooks.vault import Vault
from spinneret.jobs.kinds import all_kinds
from spinneret.jobs.live.pushes import Subscribers
from spinneret.jobs.ports import JobStore, Listener
from spinneret.jobs.wiring import (
    EVENTS_TABLE,
    JOBS,
    JOBS_TABLE,
    ending_store,
    job_service,
    live_service,
    pushes,
)
from spinneret.kernel.settings import flag, text
from spinneret.outbox import limits
from spinneret.outbox.dynamo import DynamoOutboxStore
from spinneret.outbox.ports import Sink
from spinneret.outbox.relay import Relay
from spinneret.web.fetching.wiring import ADDRESSES, address_policy

WEBHOOKS_TABLE: Final = text("WEBHOOKS_TABLE")
EVENT_BUS: Final = text("EVENT_BUS")
FEATURES__ENABLE_WEBHOOKS: Final = flag("FEATURES__ENABLE_WEBHOOKS", default=True)
RELAY: Final = (*JOBS, EVENTS_TABLE, EVENT_BUS, WEBHOOKS_TABLE, FEATURES__ENABLE_WEBHOOKS)
WEBHOOKS: Final = (*JOBS, *ADDRESSES, WEBHOOKS_TABLE, FEATURES__ENABLE_WEBHOOKS, SECRETS_KEY_ID)


def relay(stage: Stage) -> Relay:
    """Return the relay of events to subscribers, webhooks and the bus of this stage."""
    sinks: list[Sink] = [
        ClientSink(subscribers=Subscribers(pushes(stage)), live=live_service(stage)),
        WebhookSink(
            endpoints=DynamoEndpointStore(stage.dynamodb, stage[WEBHOOKS_TABLE]),
            jobs=job_service(stage),
            kinds=all_kinds(),
            enabled=stage[FEATURES__ENABLE_WEBHOOKS],
        ),
        EventBridgeBus(bus_client(), stage[EVENT_BUS]),
    ]
    store = DynamoOutboxStore(stage.dynamodb, stage[EVENTS_TABLE])
    return Relay(store, sinks, stage.clock, at_once=limits.OUTBOX_RELAYS)


def relaying_store(stage: Stage, *listeners: Listener) -> JobStore:
    """Return the store for all code that moves jobs, as `ending_store` with this relay."""
    return ending_store(stage, relay(stage).relay, *listeners)


def webhook_service(stage: Stage) -> WebhookService:
    """Return the webhook service of this stage."""
    return WebhookService(
        endpoints=DynamoEndpointStore(stage.dynamodb, stage[WEBHOOKS_TABLE]),
        log=DynamoDeliveryLog(stage.dynamodb, stage[WEBHOOKS_TABLE], stage[JOBS_TABLE]),
        jobs=job_service(stage),
        vault=vault(stage),
        policy=address_policy(stage),
        clock=stage.clock,
        new_id=stage.new_id,
        enabled=stage[FEATURES__ENABLE_WEBHOOKS],
    )


def vault(stage: Stage) -> Vault:
    """Return the vault under this stage's key."""
    return Vault(sealer=stage.sealer, random=os.urandom)
