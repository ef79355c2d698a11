"""Choice of the sinks of domain events; every function that relays events has all of them."""

from __future__ import annotations

from dataclasses import dataclass

from spinneret.aws.clients import dynamodb_client
from spinneret.events.bus.eventbridge import EventBridgeBus, bus_client
from spinneret.events.webhooks.wiring import SinkSettings, webhook_sink
from spinneret.jobs.live.pushes import Subscribers
from spinneret.jobs.settings import EndSettings
from spinneret.jobs.wiring import pushes
from spinneret.kernel.clock import utc_now
from spinneret.outbox.dynamo import DynamoOutboxStore
from spinneret.outbox.ports import Sink
from spinneret.outbox.relay import Relay


@dataclass(frozen=True, kw_only=True)
class RelaySettings(EndSettings, SinkSettings):
    """Environment settings of the relay."""

    event_bus: str


def relay(settings: RelaySettings) -> Relay:
    """Return the relay of events to subscribers, webhooks and the bus of this stage."""
    store = DynamoOutboxStore(dynamodb_client(), settings.events_table)
    sinks: list[Sink] = [
        Subscribers(pushes(settings)),
        webhook_sink(settings),
        EventBridgeBus(bus_client(), settings.event_bus),
    ]
    return Relay(store, sinks, utc_now)
